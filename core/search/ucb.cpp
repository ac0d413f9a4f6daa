// SPDX-License-Identifier: Apache-2.0
#include "core/search/ucb.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace espalier {
namespace {

/// The idea under a parent that comes next: single ideas before series, the boosted and the older first.
NodeId firstIdeaUnder(const SearchTree& tree, NodeId parent)
{
    std::optional<std::pair<bool, Ranked>> first;
    for (const NodeId id : tree.openIdeasUnder(parent)) {
        const std::pair<bool, Ranked> rank{tree.at(id).planned > 1, Ranked{tree.openIdea(id).weight, id}};
        if (!first || rank < *first) {
            first = rank;
        }
    }
    return first->second.id;
}

} // namespace

Decision Ucb::next(const SearchTree& tree) const
{
    const double all = std::log(1.0 + static_cast<double>(tree.births()));
    std::optional<Ranked> best;
    const auto consider = [&](double promise, int tries, NodeId id) {
        const Ranked bound{promise + m_parameters.explore * std::sqrt(all / (1.0 + tries)), id};
        if (!best || bound < *best) {
            best = bound;
        }
    };
    double most = 0;
    // Within a group of equally many expansions the bound falls with the learned promise: its first is its best.
    for (const auto& [tries, group] : tree.frontier()) {
        most = best ? std::max(most, group.begin()->weight) : group.begin()->weight;
        consider(group.begin()->weight, tries, group.begin()->id);
    }
    for (const NodeId id : tree.pinnedParents()) {
        if (tree.at(id).boost > 0 && (!tree.at(id).asked || !tree.openIdeasUnder(id).empty())) {
            consider(most, tree.gainOf(id).tries, id);
        }
    }
    if (!best) {
        return decision::Wait{};
    }
    const std::string why =
        fmt::format("bound {:.2f}x after {} expansions", std::exp(best->weight), tree.gainOf(best->id).tries);
    if (!tree.at(best->id).asked) {
        return decision::AskIdeas{best->id, why};
    }
    return decision::Implement{firstIdeaUnder(tree, best->id), why};
}

} // namespace espalier
