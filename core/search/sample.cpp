// SPDX-License-Identifier: Apache-2.0
#include "core/search/sample.h"

#include "core/base/hash.h"

#include <tuple>

namespace espalier {

Decision Sample::next(const SearchTree& tree) const
{
    for (const auto& [id, node] : tree.nodes()) {
        // A pinned candidate always stays a parent, also where the others are not asked.
        if (node.kind != NodeKind::Idea && !node.asked && tree.isParent(id) && (!node.parent || node.pinned)) {
            return decision::AskIdeas{id};
        }
    }
    using Rank = std::tuple<double, double, std::string>; // tries so far over boost, minus boost, the draw
    std::optional<std::pair<Rank, NodeId>> first;
    for (const auto& [id, node] : tree.nodes()) {
        const int tries = node.tries();
        if (node.kind != NodeKind::Idea || node.exhausted || tries >= node.planned || !tree.inSearch(id) ||
            node.boost <= 0) {
            continue;
        }
        const auto parent = tree.parentCandidate(id);
        if (!parent || !tree.isParent(*parent) || tree.at(*parent).boost <= 0) {
            continue;
        }
        const double boost = node.boost * tree.at(*parent).boost;
        const Rank rank{tries / boost, -boost,
                        sha256Of({"sample", std::to_string(m_seed), node.proposer, node.key, std::to_string(tries)})};
        if (!first || rank < first->first) {
            first = {rank, id};
        }
    }
    if (first) {
        return decision::Implement{first->second};
    }
    return decision::Wait{};
}

} // namespace espalier
