// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/node.h"
#include "core/search/search_tree.h"

#include <map>
#include <string>
#include <string_view>

namespace espalier {

/// A tree from text: `root:passed > keep_row > c1:passed(1.8); keep_row > c2:incorrect`. The first name is the root,
/// below it ideas and candidates: a name is a candidate when it has an outcome somewhere ("?": awaited). Further marks:
/// `name!` pinned, `name-` pruned, `name*2` boost 2, `name/3` an idea with three planned candidates, `name=` one of
/// which each waits for the one before it, `name~` ideas not asked yet. Scores stand in brackets; nodes get ids in the
/// order in which they are first named, from 1.
SearchTree treeFromText(std::string_view text);

/// Names by id, as in the text.
std::string nameIn(const SearchTree& tree, NodeId id);

/// An indented list of nodes, in id order among siblings: "root passed", "  keep_row (playbook)", "    keep_row
/// passed 1.80x".
std::string listOf(const std::map<NodeId, NodeSummary>& nodes);

} // namespace espalier
