// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/pair_comparison.h"

#include "core/model/node_text.h"

#include <fmt/format.h>
#include <utility>

namespace espalier {
namespace {

Interval inverse(const Interval& ratio)
{
    return {1 / ratio.value, 1 / ratio.high, 1 / ratio.low};
}

constexpr NodeId tasksRoot{1}; // that every candidate is timed with

Interval overRoot(const NodeSummary& node)
{
    return node.id == tasksRoot ? Interval{1, 1, 1} : node.speedupRoot.value_or(Interval{});
}

/// Why the figures say nothing of each other; empty: they do.
std::string obstacle(const NodeSummary& first, const NodeSummary& second)
{
    for (const NodeSummary* node : {&first, &second}) {
        if (!node->timeUs) {
            const bool done = node->state == NodeState::Done && node->kind != NodeKind::Idea;
            return fmt::format("Node {} has no time ({}): there is nothing to compare it by.", node->id.value,
                               done ? outcomeText(*node) : std::string(nameOf(node->state)));
        }
    }
    if (first.provenance != second.provenance) {
        return "One is measured and the other modelled: their times are not comparable.";
    }
    if (first.olderEdition != second.olderEdition) {
        const NodeSummary &older = first.olderEdition ? first : second, &newer = first.olderEdition ? second : first;
        return fmt::format("Node {0} was judged under an earlier edition of the task and node {1} under a later one: "
                           "their times are not comparable until node {0} is timed again.",
                           older.id.value, newer.id.value);
    }
    if (first.epoch != second.epoch) {
        return "They were measured on different devices, drivers or toolkits: their times are not comparable.";
    }
    return "";
}

/// The second over the first where both were timed in the same blocks.
std::optional<Interval> timedTogether(const PairSide& first, const PairSide& second)
{
    if (second.parent == first.node.id && second.node.speedupParent) {
        return second.node.speedupParent;
    }
    if (first.parent == second.node.id && first.node.speedupParent) {
        return inverse(*first.node.speedupParent);
    }
    if (first.node.id == tasksRoot && second.node.speedupRoot) {
        return second.node.speedupRoot;
    }
    if (second.node.id == tasksRoot && first.node.speedupRoot) {
        return inverse(*first.node.speedupRoot);
    }
    return std::nullopt;
}

} // namespace

PairVerdict comparePair(const PairSide& first, const PairSide& second)
{
    PairVerdict verdict;
    verdict.sentence = obstacle(first.node, second.node);
    if (!verdict.sentence.empty()) {
        return verdict;
    }
    const std::optional<Interval> together = timedTogether(first, second);
    const Interval one = overRoot(first.node), other = overRoot(second.node);
    verdict.together = together.has_value();
    verdict.speedup = together                           ? together
                      : one.value > 0 && other.value > 0 ? std::optional(statistics::quotient(other, one))
                                                         : std::nullopt;
    if (!verdict.speedup || !(verdict.speedup->value > 0)) {
        verdict.speedup.reset();
        verdict.sentence = "They were never timed against the same kernel: their times are not comparable.";
        return verdict;
    }
    const bool modelled = first.node.provenance == Provenance::Model;
    verdict.comparison = statistics::compare(*verdict.speedup, modelled ? 0 : statistics::leastDifference);
    const bool slower = verdict.comparison == statistics::Comparison::Slower;
    const Interval ratio = slower ? inverse(*verdict.speedup) : *verdict.speedup;
    const std::string figure =
        modelled ? fmt::format("≈{:.3f}x, modelled and without noise", ratio.value)
                 : fmt::format("{:.3f}x, 95 % interval {:.3f} to {:.3f}, {}", ratio.value, ratio.low, ratio.high,
                               verdict.together ? "timed in the same blocks" : "each timed against the root");
    verdict.sentence =
        verdict.comparison == statistics::Comparison::Tie
            ? fmt::format("Nodes {} and {} are a tie: {}.", first.node.id.value, second.node.id.value, figure)
            : fmt::format("Node {} is {}faster than node {}: {}.", (slower ? first : second).node.id.value,
                          modelled ? "" : "surely ", (slower ? second : first).node.id.value, figure);
    return verdict;
}

} // namespace espalier
