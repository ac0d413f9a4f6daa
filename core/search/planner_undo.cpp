// SPDX-License-Identifier: Apache-2.0
// Acts that are taken back: what stood there before is put in place again.
#include "core/search/planner.h"

#include "core/search/bans.h"
#include "core/search/overturns.h"
#include "core/search/standing.h"

#include <fmt/format.h>

namespace espalier {
namespace {

std::string wordIn(const Json& object, const char* name)
{
    return object.is_object() && object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                                                   : std::string();
}

} // namespace

Result<Change> Planner::changeBack(const Replaced& replaced)
{
    const Json& value = replaced.value;
    const std::string& field = replaced.field;
    if (field == "bans") {
        return bansChange(bansFrom(value));
    }
    if (field == "hints") {
        return hintsChange(hintsFrom(value));
    }
    if (field == "attachment") {
        return attachmentChange({wordIn(value, "name"), wordIn(value, "text")});
    }
    const NodeSummary* node = m_book.find(replaced.node);
    if (!node) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", replaced.node.value));
    }
    if (field == "overturn") {
        return overturnChange(replaced.node, overturnFrom(value));
    }
    if (field == "branch_budget") {
        return branchBudgetChange(replaced.node, value.is_string() ? value.get<std::string>() : std::string());
    }
    if (field == "words") {
        if (node->state != NodeState::Draft) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("Node {} was implemented since its words were edited: the edit stays.",
                                    replaced.node.value));
        }
        return nodeChange(replaced.node, [&value](StoredNode& stored) {
            stored.title = wordIn(value, "title");
            stored.ideaText = wordIn(value, "text");
            if (const std::string payload = wordIn(value, "payload"); !payload.empty()) { // older sessions have none
                stored.payload = payload;
            }
        });
    }
    return nodeChange(replaced.node, [&](StoredNode& stored) {
        if (field == "pinned" && value.is_boolean()) {
            stored.pinned = value.get<bool>();
        } else if (field == "pruned" && value.is_boolean()) {
            stored.pruned = value.get<bool>();
        } else if (field == "boost" && value.is_number()) {
            stored.boost = value.get<double>();
        }
    });
}

} // namespace espalier
