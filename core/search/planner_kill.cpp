// SPDX-License-Identifier: Apache-2.0
// A candidate that the engineer ends, at whatever stage it is.
#include "core/search/planner.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {

Result<void> Planner::kill(NodeId id)
{
    const NodeSummary* node = m_book.find(id);
    if (!node) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", id.value));
    }
    if (node->kind == NodeKind::Idea) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("Node {} is an idea: kill one of its candidates, or prune it.", id.value));
    }
    if (id == taskRoot) {
        return fail(ErrorCode::InvalidInput, "The task's root cannot be killed: everything is compared with it.");
    }
    if (node->state == NodeState::Done) {
        return fail(ErrorCode::InvalidInput, fmt::format("Node {} has ended: there is nothing to kill.", id.value));
    }
    ESPALIER_CHECK(m_book.checkUnprotected(id));
    ESPALIER_CHECK(m_acts.perform({{"act", "kill"}, {"node", id.value}}, {}));
    endKilled(id);
    return {};
}

void Planner::endKilled(NodeId id)
{
    const auto asked = std::find_if(m_generating.begin(), m_generating.end(),
                                    [id](const Generating& generating) { return generating.node == id; });
    if (asked != m_generating.end()) {
        if (Proposer* proposer = m_proposers.named(m_book.find(id)->proposer)) {
            proposer->cancel(asked->request);
        }
        m_generating.erase(asked);
    }
    if (m_setup.exchanges) { // an earlier run's too
        if (const auto ended = m_setup.exchanges->endOpen(id); !ended) {
            trouble(ended.error());
        }
    }
    std::erase(m_unanswered, id);
    if (std::erase(m_postponed, id) > 0) {
        unpark(id);
    }
    m_pipeline.kill(id);
}

/// An earlier run may have ended between the act and its end.
void Planner::restoreKills(const std::vector<StoredAct>& acts)
{
    for (const StoredAct& stored : acts) {
        const auto act =
            stored.what.find("\"kill\"") == std::string::npos ? Result<Json>(Json()) : parseJson(stored.what, "act");
        if (!act || !act->is_object() || act->value("act", Json()) != "kill" || !act->contains("node") ||
            !(*act)["node"].is_number_integer()) {
            continue;
        }
        const NodeId id{(*act)["node"].get<std::int64_t>()};
        const NodeSummary* node = m_book.find(id);
        if (node && node->kind != NodeKind::Idea && node->state != NodeState::Done && id != taskRoot) {
            endKilled(id);
        }
    }
}

} // namespace espalier
