// SPDX-License-Identifier: Apache-2.0
#include "core/search/node_book.h"

#include <cassert>

namespace espalier {

void NodeBook::setFrame(SearchFrame frame)
{
    m_frame = std::move(frame);
}

void NodeBook::add(const StoredNode& node)
{
    NodeSummary summary;
    summary.id = node.id;
    summary.kind = node.kind;
    summary.parents = node.parents;
    summary.ordinal = node.ordinal;
    summary.proposer = node.proposer;
    m_nodes.emplace(node.id, std::move(summary));
    if (!node.parents.empty()) {
        ++m_entries[node.parents.front().parent].children;
    }
    update(node);
}

void NodeBook::update(const StoredNode& node)
{
    NodeSummary& summary = m_nodes.at(node.id);
    summary.state = node.state;
    summary.title = node.title;
    summary.pinned = node.pinned;
    summary.pruned = node.pruned;
    summary.boost = node.boost;
    m_changed.insert(node.id);
}

void NodeBook::setState(NodeId id, NodeState state)
{
    m_nodes.at(id).state = state;
    m_changed.insert(id);
}

void NodeBook::stageBegan(NodeId id, Stage stage)
{
    NodeSummary& summary = m_nodes.at(id);
    summary.state = NodeState::Running;
    summary.runningStage = stage;
    m_changed.insert(id);
}

void NodeBook::returnedToQueue(NodeId id)
{
    NodeSummary& summary = m_nodes.at(id);
    summary.state = NodeState::Queued;
    summary.runningStage.reset();
    m_changed.insert(id);
}

void NodeBook::finished(NodeId id, const Evaluation& evaluation)
{
    NodeSummary& summary = m_nodes.at(id);
    summary.state = NodeState::Done;
    summary.runningStage.reset();
    summary.outcome = evaluation.outcome;
    summary.cause = evaluation.cause;
    summary.reason = evaluation.reason;
    summary.provenance.reset();
    summary.timeUs.reset();
    summary.speedupRoot.reset();
    summary.speedupParent.reset();
    summary.tieWithParent = false;
    if (evaluation.timing && !evaluation.timing->cases.empty()) {
        summary.provenance = evaluation.timing->cases.front().provenance;
        summary.timeUs = evaluation.timing->objectiveUs;
        summary.speedupRoot = evaluation.timing->speedupRoot;
        summary.speedupParent = evaluation.timing->speedupParent;
        if (!summary.speedupParent && parentCandidate(id) == taskRoot) { // the root is timed once, as the root
            summary.speedupParent = summary.speedupRoot;
        }
        summary.tieWithParent =
            summary.speedupParent && summary.speedupParent->low <= 1 && summary.speedupParent->high >= 1;
    }
    m_entries[id].epoch = evaluation.epoch;
    m_changed.insert(id);
}

const NodeSummary* NodeBook::find(NodeId id) const
{
    const auto found = m_nodes.find(id);
    return found == m_nodes.end() ? nullptr : &found->second;
}

NodeId NodeBook::nextId() const
{
    return NodeId{m_nodes.empty() ? 1 : m_nodes.rbegin()->first.value + 1};
}

int NodeBook::childrenOf(NodeId id) const
{
    const auto found = m_entries.find(id);
    return found == m_entries.end() ? 0 : found->second.children;
}

EvaluationCounts NodeBook::counts() const
{
    EvaluationCounts counts;
    for (const auto& [id, node] : m_nodes) {
        if (node.kind == NodeKind::Idea || node.state != NodeState::Done || id == taskRoot ||
            node.cause == NotRunCause::NoSource || node.cause == NotRunCause::Cancelled) {
            continue;
        }
        ++counts.evaluations;
        switch (node.outcome) {
        case Outcome::Passed:
            ++counts.passed;
            break;
        case Outcome::BuildFailed:
            ++counts.failed;
            break;
        case Outcome::NotRun:
            ++counts.notRun;
            break;
        case Outcome::Incorrect:
        case Outcome::Suspicious:
        case Outcome::RuntimeFailed:
        case Outcome::TimedOut:
            ++counts.rejected;
            break;
        }
    }
    return counts;
}

std::optional<NodeId> NodeBook::parentCandidate(NodeId id) const
{
    const NodeSummary* node = find(id);
    while (node && !node->parents.empty()) {
        node = find(node->parents.front().parent);
        if (node && node->kind != NodeKind::Idea) {
            return node->id;
        }
    }
    return std::nullopt;
}

bool NodeBook::pruned(NodeId id) const
{
    for (const NodeSummary* node = find(id); node;
         node = node->parents.empty() ? nullptr : find(node->parents.front().parent)) {
        if (node->pruned) {
            return true;
        }
    }
    return false;
}

std::optional<double> NodeBook::scoreOf(const NodeSummary& node) const
{
    const auto entry = m_entries.find(node.id);
    if (node.state != NodeState::Done || node.outcome != Outcome::Passed || node.provenance != m_frame.provenance ||
        entry == m_entries.end() || entry->second.epoch != m_frame.epoch) {
        return std::nullopt;
    }
    if (node.id == taskRoot) {
        return 1.0;
    }
    if (node.speedupRoot) {
        return node.speedupRoot->value;
    }
    const NodeSummary* root = find(taskRoot);
    if (node.timeUs && node.timeUs->value > 0 && root && root->timeUs && scoreOf(*root)) {
        return root->timeUs->value / node.timeUs->value;
    }
    return std::nullopt;
}

std::optional<NodeId> NodeBook::best() const
{
    std::optional<NodeId> best;
    double bestScore = 0;
    for (const auto& [id, node] : m_nodes) {
        const auto score = scoreOf(node);
        if (score && *score > bestScore && !pruned(id)) {
            best = id;
            bestScore = *score;
        }
    }
    return best;
}

std::vector<NodeSummary> NodeBook::takeChanged()
{
    std::vector<NodeSummary> changed;
    for (const NodeId id : m_changed) {
        changed.push_back(m_nodes.at(id));
    }
    m_changed.clear();
    return changed;
}

} // namespace espalier
