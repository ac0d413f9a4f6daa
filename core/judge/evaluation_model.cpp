// SPDX-License-Identifier: Apache-2.0
// On the simulated device times are modelled from what was counted, the rivals' as well.
#include "core/judge/evaluation_run.h"

#include "core/analysis/statistics.h"

#include <fmt/format.h>

namespace espalier::judge {

Judged<double> Evaluator::modelledSeconds(const std::string& taskHash, const Rival& rival, const CasePlan& plan,
                                          OracleComparison& oracle)
{
    const auto key = std::tuple(taskHash, rival.library, plan.id);
    if (const auto known = m_modelled.find(key); known != m_modelled.end()) {
        return known->second;
    }
    auto warm =
        m_context.runners.warm(Role::Rival, rival.library, entryNames(rival.entry), rival.id, m_context.interrupts);
    const bool incumbent = rival.kind == Contender::Kind::Incumbent; // may be anything, and nobody has verified it
    if (!warm) {
        return incumbent ? notRun(NotRunCause::Unsupported, warm.error().message)
                         : std::unexpected(infrastructure(warm.error()));
    }
    if (((*warm)->found & 1) == 0) {
        return notRun(NotRunCause::Unsupported, fmt::format("it has no function {}", rival.entry));
    }
    Judged<double> seconds = callRival(**warm, plan, incumbent ? &oracle : nullptr);
    if (seconds && *seconds <= 0) {
        return notRun(NotRunCause::Unsupported, "it launched nothing that the simulated device counts");
    }
    if (seconds) {
        m_modelled[key] = *seconds;
    }
    return seconds;
}

Judged<TimingRecord> Evaluator::model(const worker::Evaluate& job, const Task& task, const Plans& plans,
                                      const Verified& verified, OracleComparison& oracle,
                                      std::vector<Evidence>& evidence)
{
    constexpr double microseconds = 1e6;
    TimingRecord record;
    record.clocks = "none: times are modelled from what was counted";
    record.monitor = m_monitor->name();
    const Floors floors = Floors::create(m_context.device().info(), task, m_roofs);
    for (const CasePlan& plan : plans.timed) {
        const auto counted = verified.simulated.find(plan.id);
        if (counted == verified.simulated.end() || counted->second.seconds.empty()) {
            return notRun(NotRunCause::Infrastructure,
                          fmt::format("the simulated device counted nothing in case {}", plan.id));
        }
        const double own = statistics::median(counted->second.seconds);
        m_modelled[std::tuple(job.task, job.candidate, plan.id)] = own;
        CaseTiming timing;
        timing.caseId = plan.id;
        timing.provenance = Provenance::Model;
        timing.timeUs = {own * microseconds, own * microseconds, own * microseconds};
        timing.goalFloorUs = floors.goalUs(plan);
        timing.samples = static_cast<int>(counted->second.seconds.size());
        timing.stoppedBy = "interval";
        const auto rival = [&](const Rival& library) -> Judged<std::optional<Interval>> {
            const std::string& what = library.id;
            const bool incumbent = library.kind == Contender::Kind::Incumbent;
            const auto key = std::tuple(job.task, library.library + library.entry, plan.id);
            if (const auto known = m_served.find(key); known != m_served.end() && incumbent) {
                evidence.push_back({"rival", fmt::format("{} could not be modelled: {}", what, known->second)});
                return std::nullopt;
            }
            auto seconds = modelledSeconds(job.task, library, plan, oracle);
            if (!seconds) {
                const bool ours = seconds.error().again && !incumbent;
                if (ours || seconds.error().cause == NotRunCause::Cancelled) {
                    return std::unexpected(seconds.error());
                }
                if (incumbent && !seconds.error().again) {
                    m_served.emplace(key, seconds.error().reason); // not tried again with every candidate
                }
                evidence.push_back(
                    {"rival", fmt::format("{} could not be modelled: {}", what, seconds.error().reason)});
                return std::nullopt;
            }
            timing.rivalTimeUs[what] = *seconds * microseconds;
            const double ratio = own > 0 ? *seconds / own : 0;
            return Interval{ratio, ratio, ratio};
        };
        ESPALIER_TRY(timing.speedupRoot, rival({Contender::Kind::Root, Role::Rival, "root", job.root, task.entry}));
        if (job.parent && *job.parent != job.root) {
            ESPALIER_TRY(timing.speedupParent,
                         rival({Contender::Kind::Parent, Role::Rival, "parent", *job.parent, task.entry}));
        }
        if (job.incumbent && job.incumbent->first != job.root && job.incumbent->first != job.candidate) {
            ESPALIER_TRY(timing.speedupIncumbent, rival({Contender::Kind::Incumbent, Role::Rival, "incumbent",
                                                         job.incumbent->first, job.incumbent->second}));
        }
        completeIncumbent(job, timing);
        record.cases.push_back(std::move(timing));
        record.timedCalls += static_cast<int>(counted->second.seconds.size());
    }
    record.checkedCalls = record.timedCalls;
    record.fullyCompared = record.timedCalls;
    return record;
}

} // namespace espalier::judge
