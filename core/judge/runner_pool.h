// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/artefact_store.h"
#include "core/judge/runner_process.h"
#include "core/judge/verdict.h"

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace espalier::judge {

struct Deadlines {
    std::chrono::milliseconds start{15000}; ///< a fresh runner: driver, context, runtime
    std::chrono::milliseconds load{5000};   ///< a library, its constructors included
    std::chrono::milliseconds call{5000};   ///< one call or one block
    std::chrono::milliseconds oracle{120000};
};

enum class Role { Candidate, Rival, Trusted };

/// A runner with its library loaded.
struct LoadedRunner {
    std::unique_ptr<RunnerProcess> process;
    std::string library; ///< hash
    Role role = Role::Candidate;
    std::uint64_t found = 0; ///< bit set over the names asked for
    int checkedBlocks = 0;   ///< of a rival: whether its outputs have been looked at
    bool served = true;      ///< false: a candidate of an earlier job that nothing was compared with yet
};

/// The judge's runners: a fresh, confined one stands by; those of the oracle, the root, the parents and the baselines
/// stay warm between jobs, the least recently used ends first. Few at a time: on an H200 a process starts in 0.15 s
/// where five others have a context and in 0.3 s where 25 have. Thread: the judge's. Owns the processes.
class RunnerPool
{
public:
    RunnerPool(DeviceSession& session, ArtefactStore& store, std::string worker, Sandbox sandbox, Deadlines deadlines);

    /// Starts standbys, side by side, until there are `wanted`; returns at once.
    Result<void> prepareStandby(std::size_t wanted = 1);
    Result<Queues> queuesOf(const std::string& hash); ///< what its library needs; only one of them fits a standby
    /// Whether warm() would find it.
    bool isWarm(Role role, const std::string& hash) const;
    /// Waits until the standbys are ready, so that their start disturbs nothing later. Errors: what keeps runners from
    /// starting.
    Result<void> settle(Interrupts& interrupts);

    /// A fresh runner with the candidate's library: never a warm one. The verdict is the candidate's where its library
    /// did it.
    Judged<LoadedRunner> candidate(const std::string& hash, const std::vector<std::string>& names,
                                   Interrupts& interrupts);
    /// A warm runner, or a new one. A failure to load is the library's, with `what` ("the oracle") in the sentence.
    Result<LoadedRunner*> warm(Role role, const std::string& hash, const std::vector<std::string>& names,
                               const std::string& what, Interrupts& interrupts);
    /// Who takes part in a measurement with fresh runners.
    struct Seat {
        Role role = Role::Rival;
        std::string library;            ///< hash
        std::string what;               ///< "parent": for sentences
        std::vector<std::string> names; ///< that are looked up
    };
    /// A fresh runner for each seat, none of them used before: started side by side, calibrated one after the other,
    /// then loaded. They stay until unseat(). A seat's verdict is its library's; errors: no runner starts.
    Result<std::vector<Judged<LoadedRunner*>>> seat(const std::vector<Seat>& seats, Interrupts& interrupts);
    void unseat();
    /// Waits until those are gone that unseat() has ended: while they go nothing starts quickly.
    void awaitLeft() { m_leaving.clear(); }
    /// Keeps a candidate's runner: it may be the next one's parent.
    void keep(LoadedRunner runner);
    void drop(const LoadedRunner* runner);
    void dropDead();
    void clear(); ///< ends all, the standby too
    /// What the current job uses: that many warm runners are never ended behind its back; `candidate` is told of freed
    /// buffers.
    void expect(std::size_t warmRunners) { m_expected = warmRunners; }
    void setCandidate(RunnerProcess* candidate) { m_candidate = candidate; }
    /// Before the judge frees a buffer.
    void forgetBuffer(std::uint64_t serial);

    const Sandbox& sandbox() const { return m_sandbox; }
    const std::string& worker() const { return m_worker; } ///< path of espalier-worker
    /// For the runners that are started from now on; the standby is replaced.
    void setSandbox(Sandbox sandbox)
    {
        m_standbys.clear();
        m_sandbox = std::move(sandbox);
    }
    int runtimeVersion() const { return m_runtimeVersion; }
    const Deadlines& deadlines() const { return m_deadlines; }

    /// Called with every fresh runner before anything foreign is loaded into it (calibration of the clock).
    std::function<Result<void>(RunnerProcess&, Interrupts&)> onFresh;

private:
    /// For one that needs more than a standby's one queue a process is started.
    Result<std::unique_ptr<RunnerProcess>> fresh(bool trusted, const std::string& library, Interrupts& interrupts);
    Judged<void> beginLoad(LoadedRunner& runner, const std::vector<std::string>& names);
    Judged<void> finishLoad(LoadedRunner& runner, const std::vector<std::string>& names, Interrupts& interrupts);
    bool isWarm(Role role, const std::string& hash, std::list<LoadedRunner>::const_iterator from) const;
    void trim();
    void leave(std::list<LoadedRunner>::iterator warm);

    DeviceSession& m_session;
    ArtefactStore& m_store;
    std::string m_worker;
    Sandbox m_sandbox;
    Deadlines m_deadlines;
    int m_runtimeVersion = 0;
    std::size_t m_expected = 0;
    std::map<std::string, Queues> m_queues; ///< by library
    RunnerProcess* m_candidate = nullptr;
    std::list<std::unique_ptr<RunnerProcess>> m_standbys; ///< the oldest first
    std::list<LoadedRunner> m_warm;                       ///< most recently used first
    std::list<LoadedRunner> m_seated;
    std::list<LoadedRunner>
        m_leaving; ///< killed, not gone yet: a context takes a while to go, and nobody has to wait for it
};

/// What a runner's loss means for its candidate. `during` completes "... during call 2 of case 8x4096".
Verdict verdictOf(const RunnerFailure& failure, const std::string& during);
Error errorOf(const RunnerFailure& failure, const std::string& what);

} // namespace espalier::judge
