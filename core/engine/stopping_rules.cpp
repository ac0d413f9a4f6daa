// SPDX-License-Identifier: Apache-2.0
#include "core/engine/stopping_rules.h"

#include "core/analysis/statistics.h"
#include "core/model/node_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace espalier {

double goalFloorUs(const TimingRecord& timing, const Task& task)
{
    std::vector<statistics::Weighted> floors;
    for (const CaseTiming& one : timing.cases) {
        if (one.goalFloorUs <= 0) {
            return 0;
        }
        const auto known = std::find_if(task.cases.begin(), task.cases.end(),
                                        [&one](const TaskCase& c) { return c.id == one.caseId; });
        floors.push_back(
            {{one.goalFloorUs, one.goalFloorUs, one.goalFloorUs}, known == task.cases.end() ? 1.0 : known->weight});
    }
    const auto floor =
        task.objective.geometricMean ? statistics::geometricMean(floors) : statistics::arithmeticMean(floors);
    return floor ? floor->value : 0;
}

std::optional<std::string> goalReached(const Budget& rules, const NodeBook& book, bool incumbent, double floorUs)
{
    const auto best = book.best();
    const NodeSummary* node = best ? book.find(*best) : nullptr;
    if (!node) {
        return std::nullopt;
    }
    const std::string_view sign = signOf(node->provenance.value_or(Provenance::Model));
    // The ends of the intervals: what is claimed is what is sure.
    const auto& speedup = incumbent ? node->speedupIncumbent : node->speedupRoot;
    if (rules.target && *best != taskRoot && speedup && speedup->low >= *rules.target) {
        return fmt::format("the target of {:g}x over the {} is reached: node {} is at least {}{:.3f}x as fast",
                           *rules.target, incumbent ? "incumbent" : "root", best->value, sign, speedup->low);
    }
    if (rules.roofPercent && floorUs > 0 && node->timeUs &&
        node->timeUs->high <= floorUs * (1 + *rules.roofPercent / 100)) {
        return fmt::format(
            "the roof is reached: node {} takes at most {}{:.4g} us, within {:g} % of the goal floor of {:.4g} us",
            best->value, sign, node->timeUs->high, *rules.roofPercent, floorUs);
    }
    if (rules.plateau && book.evaluatedAfter(*best, *rules.plateau) >= *rules.plateau) {
        return fmt::format("the search is on a plateau: the last {} evaluations brought nothing faster than node {}",
                           *rules.plateau, best->value);
    }
    return std::nullopt;
}

} // namespace espalier
