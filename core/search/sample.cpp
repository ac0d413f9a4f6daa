// SPDX-License-Identifier: Apache-2.0
#include "core/search/sample.h"

#include "core/search/draw.h"

#include <tuple>

namespace espalier {

Decision Sample::next(const SearchTree& tree) const
{
    for (const NodeId id : tree.unasked()) {
        // A pinned candidate always stays a parent, also where the others are not asked.
        const TreeNode& node = tree.at(id);
        if (!node.parent || node.pinned) {
            return decision::AskIdeas{id, node.pinned ? "it is pinned" : "tries start from the roots"};
        }
    }
    using Rank = std::tuple<double, double, std::uint64_t, NodeId>; // tries so far over boost, minus boost, the draw
    std::optional<Rank> first;
    for (const bool series : {false, true}) {
        for (const Ranked& open : tree.openIdeas(series)) {
            const TreeNode& node = tree.at(open.id);
            const auto tries = static_cast<std::uint64_t>(node.tries());
            const double boost = node.boost * tree.at(*node.parent).boost; // ideas stand under candidates
            const Rank rank{static_cast<double>(tries) / boost, -boost, drawOf({m_seed, node.draw, tries}), open.id};
            if (!first || rank < *first) {
                first = rank;
            }
        }
    }
    if (first) {
        return decision::Implement{std::get<NodeId>(*first), "drawn among the ideas with the fewest tries"};
    }
    return decision::Wait{};
}

} // namespace espalier
