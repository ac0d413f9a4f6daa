// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/build/toolchain.h"
#include "core/worker/evaluator.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace espalier {

/// What the fakes did, over all restarts of a session: the proof that nothing is done twice. It also holds the compiler
/// cache, which outlives an engine.
struct FakeLedger {
    std::map<std::string, int> compiled, verified, timed; ///< by source
    std::map<std::string, BuildResult> cache;
    int judgesStarted = 0;
    std::map<std::string, double> slowness; ///< what times are multiplied with on a device, by its uuid
    int buildTurns = 0;    ///< of every build that is not cached, side by side with the others; 0: one build a turn
    int compilersGone = 0; ///< builds to come, cached ones apart, that fail for a reason of ours whatever they build
};

/// A descriptor that is readable while it is set.
class Signal
{
public:
    Signal();
    int fd() const { return m_fd.get(); }
    void set(bool on);

private:
    UniqueFd m_fd;
    bool m_on = false;
};

/// A compiler in memory: the library's bytes are the source itself, and behind it, as PTX, the name after "code=". A
/// source that holds "build=failed" does not compile; "registers=200" and "uses=half" are what its machine code holds;
/// "build=ours" fails for a reason of ours, once for each mention in `ledger.compiled`. With a shuffle seed, jobs end
/// in any order and number per receive(); without, one by one in order.
class FakeBuildPool final : public BuildPool
{
public:
    FakeBuildPool(FakeLedger& ledger, std::optional<unsigned> shuffle) : m_ledger(ledger), m_shuffle(shuffle)
    {
        if (shuffle) {
            m_random.seed(*shuffle);
        }
    }
    void submit(BuildJob job) override;
    void cancel(RequestId id) override;
    int descriptor() const override { return m_signal.fd(); }
    std::vector<BuildResult> receive() override;
    int busy() const override { return static_cast<int>(m_jobs.size()); }

private:
    BuildResult build(const BuildJob& job);

    FakeLedger& m_ledger;
    std::optional<unsigned> m_shuffle;
    std::mt19937 m_random;
    std::deque<BuildJob> m_jobs;
    std::map<RequestId, int> m_turns; ///< that a build has taken so far
    Signal m_signal;
};

/// A judge in memory: reads the verdict off the library's bytes. "time=40" is its time in microseconds, times a penalty
/// for every tunable that is off its best value, "again=44" what the full tier measures instead, "floor=40" in the root
/// its case's goal floor; "outcome=incorrect" and the like its outcome, "found=incorrect" in the full tier only;
/// "judge=lost" makes it die, as often as `losses` says. One event per receive(): Progress, Verified, Progress,
/// Finished.
class FakeEvaluator final : public Evaluator
{
public:
    FakeEvaluator(FakeLedger& ledger, JudgeHello hello, std::shared_ptr<int> losses)
        : m_ledger(ledger), m_hello(std::move(hello)), m_losses(std::move(losses))
    {
        ++m_ledger.judgesStarted;
    }
    const JudgeHello& hello() const override { return m_hello; }
    void submit(EvaluationJob job) override;
    void cancel(RequestId id) override;
    int descriptor() const override { return m_signal.fd(); }
    int timeoutMilliseconds() const override { return -1; }
    std::vector<evaluator::Event> receive() override;

private:
    evaluator::Event step();
    Evaluation timed() const;

    FakeLedger& m_ledger;
    JudgeHello m_hello;
    std::shared_ptr<int> m_losses;
    std::deque<EvaluationJob> m_jobs;
    int m_step = 0;
    Signal m_signal;
};

/// Microseconds that the fake judge gives a source.
double fakeTime(const std::string& source);

JudgeHello fakeHello(const std::string& driver = "1.0");

/// A task with a root of 100 us and a playbook: vector (80) > registers (50, tunable) > cluster (rejected), and warp
/// (200), broken (does not compile).
Task fakeTask();

} // namespace espalier
