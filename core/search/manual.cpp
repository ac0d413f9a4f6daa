// SPDX-License-Identifier: Apache-2.0
#include "core/search/manual.h"

namespace espalier {

Decision Manual::next(const SearchTree& tree) const
{
    for (const NodeId id : tree.pinnedParents()) {
        if (!tree.at(id).asked) {
            return decision::AskIdeas{id, "it is pinned"};
        }
    }
    std::optional<Ranked> first;
    for (const std::set<NodeId>* chosen : {&tree.pinnedIdeas(), &tree.boostedIdeas()}) {
        for (const NodeId id : *chosen) {
            const Ranked rank{tree.at(id).boost, id};
            if (!first || rank < *first) {
                first = rank;
            }
        }
    }
    if (first) {
        return decision::Implement{first->id, "the engineer chose it"};
    }
    return decision::Wait{};
}

} // namespace espalier
