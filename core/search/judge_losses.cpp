// SPDX-License-Identifier: Apache-2.0
#include "core/search/judge_losses.h"

#include "core/base/json.h"

#include <cstdlib>

namespace espalier {

JudgeLosses JudgeLosses::parse(std::string_view text)
{
    JudgeLosses losses;
    const auto json = text.empty() ? Result<Json>(Json::object()) : parseJson(text, "lost judges");
    if (json && json->is_object()) {
        for (const auto& [node, one] : json->items()) {
            if (one.is_object() && one.contains("count") && one["count"].is_number_integer() && one.contains("why") &&
                one["why"].is_string()) {
                losses.m_losses[NodeId{std::strtoll(node.c_str(), nullptr, 10)}] = {one["count"].get<int>(),
                                                                                    one["why"].get<std::string>()};
            }
        }
    }
    return losses;
}

std::string JudgeLosses::text() const
{
    Json json = Json::object();
    for (const auto& [node, one] : m_losses) {
        json[std::to_string(node.value)] = {{"count", one.count}, {"why", one.why}};
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void JudgeLosses::lost(NodeId node, const std::string& why)
{
    Losses& losses = m_losses[node];
    ++losses.count;
    losses.why = why;
}

bool JudgeLosses::atLimit(NodeId node) const
{
    const auto found = m_losses.find(node);
    return found != m_losses.end() && found->second.count >= most;
}

std::string JudgeLosses::why(NodeId node) const
{
    const auto found = m_losses.find(node);
    return found == m_losses.end() ? std::string() : found->second.why;
}

} // namespace espalier
