// SPDX-License-Identifier: Apache-2.0
#include "core/search/overturns.h"

#include "core/base/json.h"

namespace espalier {

std::string actOf(NodeId node, const Overturn& overturn)
{
    return Json{{"act", "overturn"},
                {"node", node.value},
                {"as", nameOf(overturn.as)},
                {"judged", nameOf(overturn.judged)},
                {"reason", overturn.reason}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::map<NodeId, Overturn> overturnsIn(const std::vector<StoredAct>& acts)
{
    std::map<NodeId, Overturn> overturns;
    for (const StoredAct& act : acts) {
        const auto json = parseJson(act.what, "act");
        if (!json || !json->is_object() || json->value("act", Json()) != "overturn") {
            continue;
        }
        const JsonReader reader(*json, "act");
        const auto text = [&](const char* name) {
            const auto field = reader.at(name);
            const auto value = field ? field->string() : std::unexpected(field.error());
            return value ? *value : std::string();
        };
        const auto field = reader.at("node");
        const auto node = field ? field->integer() : std::unexpected(field.error());
        const auto as = outcomeNamed(text("as"));
        if (node && as) {
            overturns[NodeId{*node}] = {*as, text("reason"), act.author, act.at,
                                        outcomeNamed(text("judged")).value_or(Outcome::NotRun)};
        }
    }
    return overturns;
}

} // namespace espalier
