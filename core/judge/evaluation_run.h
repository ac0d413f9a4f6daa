// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/context.h"
#include "core/judge/device_monitor.h"
#include "core/judge/floors.h"
#include "core/judge/oracle_comparison.h"
#include "core/judge/timer.h"
#include "core/judge/verifier.h"
#include "core/worker/protocol.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace espalier::judge {

/// Evaluates one job after the other: verify, then time. Keeps parsed tasks and the modelled times of rivals.
/// Thread: the judge's.
class Evaluator
{
public:
    struct Callbacks {
        std::function<void(Stage, const std::string&)> progress;
        std::function<void(const VerifyRecord&)> verified;
    };

    Evaluator(const Context& context, std::string roofs, std::string epoch)
        : m_context(context), m_roofs(std::move(roofs)), m_epoch(std::move(epoch)),
          m_monitor(openDeviceMonitor(context.session.simulated() ? std::string() : context.device().info().uuid))
    {
    }

    /// Never fails: what goes wrong stands in the evaluation. A loss of ours or a kill from outside is tried once more.
    Evaluation run(const worker::Evaluate& job, const Callbacks& callbacks);
    /// Starts a lost device anew, and everything that hung on it. False when it stays lost.
    bool recover();

private:
    struct Plans {
        std::vector<CasePlan> verify, timed;
        std::vector<CasePlan> unseen; ///< verified, too: made by the judge for this candidate
        std::vector<RelationPlan> relations;
    };
    Evaluation attempt(const worker::Evaluate& job, const Callbacks& callbacks, bool& again);
    Judged<void> evaluate(const worker::Evaluate& job, const Callbacks& callbacks, Evaluation& evaluation);
    Judged<std::shared_ptr<const Task>> taskOf(const std::string& hash);
    Judged<Plans> plansOf(const Task& task, const std::vector<std::string>& wanted, Tier tier) const;
    /// What is done once for a task and not for a candidate: the oracle's process, and that of the rival which the
    /// quick tier compares with, with its first call behind it (a vendor's library loads its code in it, and may try
    /// its algorithms).
    Judged<void> open(const worker::Evaluate& job, const Task& task, const Plans& plans);
    Judged<LoadedRunner*> oracleOf(const worker::Evaluate& job, const Task& task);
    Judged<void> checkStatics(const worker::Evaluate& job, const Task& task, const Verified& verified);
    /// Who the candidate is compared with.
    struct Rival {
        Contender::Kind kind = Contender::Kind::Root;
        Role role = Role::Rival;
        std::string id;
        std::string library;                ///< hash
        std::string entry;                  ///< the function with the entry's signature
        const Baseline* baseline = nullptr; ///< of the task, where it is one
    };
    using Processes = std::map<std::string, std::vector<LoadedRunner*>>; ///< by contender's id

    Judged<TimingRecord> measure(const worker::Evaluate& job, const Callbacks& callbacks, const Task& task,
                                 const Plans& plans, OracleComparison& oracle, LoadedRunner& candidate,
                                 Evaluation& evaluation);
    static void noteVersions(const std::vector<Rival>& rivals, const std::vector<Contender>& contenders,
                             TimingRecord& record);
    static std::vector<Rival> rivalsOf(const worker::Evaluate& job, const Task& task);
    Result<void> prepareRunners(const worker::Evaluate& job, const Task& task);
    /// Fresh processes for the candidate and all rivals, `fullRunners` each where the device's memory allows. (Started
    /// while the candidate is verified they take as long, and the gate takes three times as long: 1.4 s instead of
    /// 0.4.)
    Judged<Processes> freshProcesses(const worker::Evaluate& job, const Task& task, const std::vector<Rival>& rivals,
                                     std::vector<Evidence>& evidence);
    Judged<std::vector<Contender>> contendersOf(const std::string& taskHash, const CasePlan& plan,
                                                const std::vector<Rival>& rivals, const Processes& processes,
                                                OracleComparison& oracle, LoadedRunner& candidate,
                                                std::vector<Evidence>& evidence);
    /// An incumbent that is the root or the candidate itself needs no race of its own.
    static void completeIncumbent(const worker::Evaluate& job, CaseTiming& timing);
    // evaluation_model.cpp
    Judged<TimingRecord> model(const worker::Evaluate& job, const Task& task, const Plans& plans,
                               const Verified& verified, OracleComparison& oracle, std::vector<Evidence>& evidence);
    Judged<double> modelledSeconds(const std::string& taskHash, const Rival& rival, const CasePlan& plan,
                                   OracleComparison& oracle);
    Judged<double> callRival(LoadedRunner& runner, const CasePlan& plan, OracleComparison* oracle);
    Judged<bool> incumbentServes(const std::string& taskHash, const Rival& incumbent, const CasePlan& plan,
                                 OracleComparison& oracle, std::vector<Evidence>& evidence);

    const Context& m_context;
    std::string m_roofs;
    std::string m_epoch;
    std::unique_ptr<DeviceMonitor> m_monitor;
    std::chrono::steady_clock::time_point m_start;          ///< of the current attempt, the task being open
    double m_opening = 0;                                   ///< seconds of the current job
    double m_sanitizing = 0;                                ///< of the current attempt
    std::set<std::pair<std::string, std::string>> m_opened; ///< task and rival's library: once, whatever came of it
    std::map<std::string, std::shared_ptr<const Task>> m_tasks;
    std::map<std::tuple<std::string, std::string, std::string>, double> m_modelled;    ///< task, library, case: seconds
    std::map<std::tuple<std::string, std::string, std::string>, std::string> m_served; ///< of incumbents: why not
};

} // namespace espalier::judge
