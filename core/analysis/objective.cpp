// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/objective.h"

#include "core/analysis/statistics.h"
#include "core/model/node_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {

void addUpObjective(const Objective& objective, const std::function<double(std::string_view caseId)>& weightOf,
                    TimingRecord& record)
{
    std::vector<statistics::Weighted> times, roots, parents, incumbents;
    std::vector<std::string> guarded;
    for (const CaseTiming& timing : record.cases) {
        const double weight = weightOf(timing.caseId);
        times.push_back({timing.timeUs, weight});
        // Without an incumbent beside it, the root serves the operation today.
        const auto& today = timing.speedupIncumbent ? timing.speedupIncumbent : timing.speedupRoot;
        const double slowdown = today && today->value > 0 ? 1 / today->value : 0;
        if (objective.guard && slowdown > *objective.guard) {
            guarded.push_back(fmt::format("case {} takes {}{:.3g} times as long as the {}", timing.caseId,
                                          signOf(timing.provenance), slowdown,
                                          timing.speedupIncumbent ? "incumbent" : "root"));
        }
        if (timing.speedupRoot) {
            roots.push_back({*timing.speedupRoot, weight});
        }
        if (timing.speedupParent) {
            parents.push_back({*timing.speedupParent, weight});
        }
        if (timing.speedupIncumbent) {
            incumbents.push_back({*timing.speedupIncumbent, weight});
        }
    }
    record.guardBroken = guarded.empty()
                             ? std::string()
                             : fmt::format("{}; the objective allows {:g}", fmt::join(guarded, ", "), *objective.guard);
    record.objectiveUs = objective.geometricMean ? statistics::geometricMean(times) : statistics::arithmeticMean(times);
    // A ratio over several cases is a geometric mean whatever the objective: a few huge ratios must not carry it.
    if (roots.size() == times.size()) {
        record.speedupRoot = statistics::geometricMean(roots);
    }
    if (parents.size() == times.size()) {
        record.speedupParent = statistics::geometricMean(parents);
    }
    if (incumbents.size() == times.size()) {
        record.speedupIncumbent = statistics::geometricMean(incumbents);
    }
}

} // namespace espalier
