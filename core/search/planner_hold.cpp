// SPDX-License-Identifier: Apache-2.0
// Proposers that cannot be asked for now or wait no longer, and candidates that are mended.
#include "core/search/planner.h"

#include <algorithm>

namespace espalier {

/// While its proposer is held an idea gets no candidates; everything else goes on.
void Planner::applyHolds()
{
    for (const auto& proposer : m_proposers) {
        if (!proposer->held()) {
            continue;
        }
        std::vector<NodeId> open;
        for (const bool series : {false, true}) {
            for (const Ranked& idea : m_tree.openIdeas(series)) {
                if (m_tree.at(idea.id).proposer == proposer->name()) {
                    open.push_back(idea.id);
                }
            }
        }
        for (const NodeId id : open) {
            m_tree.find(id)->exhausted = true;
            m_heldIdeas.insert(id);
        }
    }
}

void Planner::goOn()
{
    m_fullTimeAsked.clear();
    for (const auto& proposer : m_proposers) {
        proposer->goOn();
    }
    for (const NodeId id : std::exchange(m_heldIdeas, {})) {
        m_tree.find(id)->exhausted = false;
        updateIdeaState(id);
    }
    for (const NodeId id : std::exchange(m_askAgain, {})) {
        m_tree.find(id)->asked = false;
    }
    for (const NodeId id : std::exchange(m_postponed, {})) {
        unpark(id);
        m_unanswered.push_back(id);
    }
    std::sort(m_unanswered.begin(), m_unanswered.end());
}

void Planner::pauseQuestions(bool readOn)
{
    for (const auto& proposer : m_proposers) {
        proposer->pause(readOn);
    }
    for (const Generating& generating : m_generating) {
        if (!generating.answer && m_book.find(generating.node)->state == NodeState::Running) {
            m_book.returnedToQueue(generating.node);
        }
    }
}

void Planner::resumeQuestions()
{
    for (const auto& proposer : m_proposers) {
        proposer->resume();
    }
    for (const Generating& generating : m_generating) {
        if (!generating.answer && m_book.find(generating.node)->state == NodeState::Queued) {
            m_book.stageBegan(generating.node, Stage::Generate);
        }
    }
}

std::optional<double> Planner::readsOn() const
{
    std::optional<double> longest;
    for (const auto& proposer : m_proposers) {
        if (const auto seconds = proposer->readsOn()) {
            longest = std::max(longest.value_or(0), *seconds);
        }
    }
    return longest;
}

/// Takes a candidate out of the order in which outcomes are consumed: its outcome does not come for now.
void Planner::park(NodeId node)
{
    std::erase(m_inFlight, node);
}

void Planner::unpark(NodeId node)
{
    if (std::find(m_inFlight.begin(), m_inFlight.end(), node) == m_inFlight.end()) {
        m_inFlight.insert(std::upper_bound(m_inFlight.begin(), m_inFlight.end(), node), node);
    }
}

/// The oldest candidate whose consumed outcome asks for a repair. A function of the tree.
std::optional<NodeId> Planner::nextRepair() const
{
    for (const NodeId id : m_tree.broken()) {
        const TreeNode& node = m_tree.at(id);
        const TreeNode& idea = m_tree.at(*node.parent);
        if (idea.boost > 0 && !m_proposers.named(node.proposer)->held()) {
            return id;
        }
    }
    return std::nullopt;
}

/// Whether its proposer would mend a candidate, and all those that it mends in turn were not its tries already.
bool Planner::mendable(const TreeNode& node) const
{
    const TreeNode* idea = node.kind == NodeKind::Candidate && node.parent ? m_tree.find(*node.parent) : nullptr;
    const Proposer* proposer = idea && idea->kind == NodeKind::Idea && idea->proposer == node.proposer
                                   ? m_proposers.named(node.proposer)
                                   : nullptr;
    int number = 1;
    for (auto before = node.mends; before; before = m_tree.at(*before).mends) {
        ++number;
    }
    return proposer && number <= proposer->repairs();
}

} // namespace espalier
