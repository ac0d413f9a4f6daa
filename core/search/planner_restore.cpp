// SPDX-License-Identifier: Apache-2.0
// The part of the planner that goes on where an earlier run of the session ended, at whatever moment that was.
#include "core/search/planner.h"

#include "core/propose/source_text.h"
#include "core/search/editions.h"
#include "core/search/node_payload.h"
#include "core/search/overturns.h"
#include "core/search/standing.h"

#include <fmt/format.h>

namespace espalier {

Result<void> Planner::restore(const std::vector<StoredNode>& nodes, const SearchFrame& frame)
{
    m_tree.setFrame(frame);
    m_book.setFrame(frame);
    Store& store = m_journal.store();
    ESPALIER_TRY(const NodeId consumed, lastConsumed(store));
    m_consumed = consumed.value;
    ESPALIER_CHECK(restoreBans());
    for (const StoredNode& node : nodes) {
        const NodePayload payload = NodePayload::parse(node.payload);
        place(node, payload);
        ESPALIER_CHECK(restoreNode(node, payload));
    }
    ESPALIER_CHECK(settleAsked());
    ESPALIER_TRY(const auto outdated, editions::outdated(store));
    for (const NodeId id : outdated) {
        m_book.setOlderEdition(id);
    }
    ESPALIER_TRY(const std::vector<StoredAct> acts, m_journal.store().acts());
    for (const auto& [id, overturn] : overturnsIn(acts)) {
        if (!m_book.find(id)) {
            continue;
        }
        m_book.overturn(id, overturn);
        if (TreeNode* entry = m_tree.find(id); entry && entry->verdict) {
            entry->verdict->outcome = overturn.as;
        }
        if (const auto arrived = m_arrived.find(id); arrived != m_arrived.end()) {
            arrived->second.outcome = overturn.as;
        }
    }
    for (const auto& [id, node] : m_tree.nodes()) {
        if (node.kind == NodeKind::Idea) {
            restoreIdeaState(node);
        }
    }
    ESPALIER_CHECK(restoreAsks());
    ESPALIER_CHECK(restoreBranchBudgets());
    restoreKills(acts);
    findCutOffAsk();
    (void)m_tree.bestScore(); // the views are made here, and not before the first decision
    if (m_trouble) {
        return std::unexpected(*std::exchange(m_trouble, std::nullopt));
    }
    return {};
}

/// Ideas are stored one by one, and nothing else in between but what the engineer does. Where the last node is an idea,
/// the ideas after it may be missing: its parent is asked again before the strategy decides on half of them. What is
/// there already is known by its key.
void Planner::findCutOffAsk()
{
    const auto& nodes = m_tree.nodes();
    for (auto last = nodes.rbegin(); last != nodes.rend() && last->second.kind == NodeKind::Idea; ++last) {
        const TreeNode& idea = last->second;
        if (!idea.byEngineer) {
            if (idea.parent && !idea.crossedWith && !m_tree.at(*idea.parent).asked) {
                m_cutOffAsk = idea.parent;
            }
            return;
        }
    }
}

/// Why those ideas were asked for that an earlier run has stored before it was cut off.
std::string Planner::whyAsked(NodeId parent)
{
    const std::vector<NodeId>& children = m_tree.at(parent).children;
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
        const auto node = m_tree.at(*child).byEngineer ? std::nullopt : std::optional(stored(*child));
        if (node && *node) {
            return NodePayload::parse((*node)->payload).why;
        }
    }
    return {};
}

Result<void> Planner::restoreNode(const StoredNode& outline, const NodePayload& payload)
{
    if (outline.kind == NodeKind::Idea) {
        return {};
    }
    // The root is measured anew when the environment is another one: everything else is compared with it.
    if (outline.id != taskRoot && outline.state == NodeState::Done && payload.ended) {
        restoreEnded(outline.id, *payload.ended);
        return {};
    }
    ESPALIER_TRY(StoredNode node, stored(outline.id));
    ESPALIER_TRY(const std::vector<StoredStage> stages, editions::stagesOf(m_journal.store(), node.id));
    const std::string& epoch = m_tree.frame().epoch;
    MergedRecords records = mergeRecords(stages, node.id == taskRoot ? std::optional(epoch) : std::nullopt);
    if (!node.source.empty()) {
        m_tree.find(node.id)->traits = traitsOfSource(node.source);
    }
    if (!records.final) {
        records = mergeRecords(stages, epoch);
        m_inFlight.push_back(node.id);
        m_whys[node.id] = NodePayload::parse(node.payload).why;
        m_book.setState(node.id, NodeState::Queued);
        if (node.source.empty()) {
            m_unanswered.push_back(node.id);
        } else {
            admit(node, &records);
        }
        return {};
    }
    const EndedRecord record = EndedRecord::of(records.evaluation, node.source);
    restoreEnded(node.id, record);
    if (node.state != NodeState::Done ||
        !payload.ended) { // cut off between its last record and this, or an older version's
        node.state = NodeState::Done;
        node.payload = NodePayload::withEnded(node.payload, record);
        if (const auto result = m_journal.updateNode(node); !result) {
            trouble(result.error());
        }
    }
    return {};
}

void Planner::restoreEnded(NodeId id, const EndedRecord& record)
{
    if (!record.identity.empty()) {
        knowSource(record.identity, id);
        m_unindexed.push_back(id);
    }
    if (record.evaluation.build && record.evaluation.outcome != Outcome::NotRun) {
        m_pipeline.knowProgram(record.evaluation.build->program, id);
    }
    m_book.finished(id, record.evaluation);
    noteBan(id, record.evaluation);
    Verdict verdict = verdictOf(record.evaluation, m_tree.frame().provenance);
    if (verdict.build) {
        verdict.build = record.build;
    }
    verdict.deviceSeconds = record.deviceSeconds;
    TreeNode* entry = m_tree.find(id);
    entry->traits = record.traits;
    if (id.value <= m_consumed) {
        entry->verdict = verdict;
    } else {
        m_arrived.emplace(id, verdict);
        m_inFlight.push_back(id);
    }
}

void Planner::restoreIdeaState(const TreeNode& idea)
{
    if (!idea.children.empty()) {
        updateIdeaState(idea.id);
    }
}

/// Asks again for kernels whose answers never came. The context is the one of the first time, outcomes that were
/// consumed since then apart.
/// Within a step each counts as the expansion that it was.
void Planner::requestUnanswered(std::optional<int>& steps)
{
    for (const NodeId id : std::exchange(m_unanswered, {})) {
        if (steps == 0) {
            m_unanswered.push_back(id);
            continue;
        }
        const TreeNode& node = m_tree.at(id);
        Proposer* proposer = node.parent ? m_proposers.named(node.proposer) : nullptr;
        if (!proposer) {
            m_pipeline.endWithoutSource(
                id, fmt::format("Proposer {} was to write it and takes no part in this run.", node.proposer));
            continue;
        }
        const auto context = implementContext(*node.parent, id, node.mends);
        if (!context) {
            m_unanswered.push_back(id);
            trouble(context.error());
            continue;
        }
        m_generating.push_back({RequestId{m_nextRequest++}, id, std::nullopt});
        m_book.stageBegan(id, Stage::Generate);
        proposer->implement(m_generating.back().request, *context);
        if (steps) {
            --*steps;
        }
    }
    collect();
    finishGenerating();
}

} // namespace espalier
