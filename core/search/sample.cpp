// SPDX-License-Identifier: Apache-2.0
#include "core/search/sample.h"

#include <set>

namespace espalier {

Decision Sample::next(const SearchTree& tree) const
{
    // A pinned candidate always stays a parent, also where the others are not asked.
    std::set<NodeId> sources = tree.pinnedParents();
    sources.insert(tree.roots().begin(), tree.roots().end());
    for (const NodeId id : sources) {
        if (tree.unasked().contains(id)) {
            return decision::AskIdeas{id, tree.at(id).pinned ? "it is pinned" : "tries start from the roots"};
        }
    }
    if (const auto& drawn = tree.drawnIdeas(m_seed); !drawn.empty()) {
        return decision::Implement{drawn.begin()->id, "drawn among the ideas with the fewest tries"};
    }
    return decision::Wait{};
}

} // namespace espalier
