// SPDX-License-Identifier: Apache-2.0
#include "core/search/overturns.h"

#include "core/model/node_text.h"

namespace espalier {
namespace {

std::string wordIn(const Json& object, const char* name)
{
    return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : std::string();
}

std::optional<NodeId> nodeIn(const Json& object)
{
    return object.contains("node") && object["node"].is_number_integer()
               ? std::optional(NodeId{object["node"].get<std::int64_t>()})
               : std::nullopt;
}

bool isUndoOfOverturn(const Json& act)
{
    return wordIn(act, "act") == "undo" && wordIn(act, "of") == "overturn" && act.value("done", Json()) == true;
}

} // namespace

Json toJson(const std::optional<Overturn>& overturn)
{
    return overturnJson(overturn);
}

std::optional<Overturn> overturnFrom(const Json& json)
{
    const auto as = json.is_object() ? outcomeNamed(wordIn(json, "as")) : std::nullopt;
    if (!as) {
        return std::nullopt;
    }
    return Overturn{*as, wordIn(json, "reason"), wordIn(json, "author"), wordIn(json, "at"),
                    outcomeNamed(wordIn(json, "judged")).value_or(Outcome::NotRun)};
}

Json actOf(NodeId node, const Overturn& overturn)
{
    return {{"act", "overturn"},
            {"node", node.value},
            {"as", nameOf(overturn.as)},
            {"judged", nameOf(overturn.judged)},
            {"reason", overturn.reason}};
}

std::map<NodeId, Overturn> overturnsIn(const std::vector<StoredAct>& acts)
{
    std::map<NodeId, std::vector<Overturn>> given; ///< the last one counts
    for (const StoredAct& act : acts) {
        const auto json = parseJson(act.what, "act");
        const auto node = json && json->is_object() ? nodeIn(*json) : std::nullopt;
        if (!node) {
            continue;
        }
        if (auto overturn = wordIn(*json, "act") == "overturn" ? overturnFrom(*json) : std::nullopt) {
            overturn->author = act.author;
            overturn->at = act.at;
            given[*node].push_back(std::move(*overturn));
        } else if (isUndoOfOverturn(*json) && !given[*node].empty()) {
            given[*node].pop_back();
        }
    }
    std::map<NodeId, Overturn> standing;
    for (auto& [node, overturns] : given) {
        if (!overturns.empty()) {
            standing.emplace(node, std::move(overturns.back()));
        }
    }
    return standing;
}

} // namespace espalier
