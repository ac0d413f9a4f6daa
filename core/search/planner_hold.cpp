// SPDX-License-Identifier: Apache-2.0
// Proposers that cannot be asked for now, and candidates that are mended.
#include "core/search/planner.h"

#include <algorithm>

namespace espalier {

std::optional<Held> Planner::held() const
{
    for (const auto& proposer : m_proposers) {
        if (auto held = proposer->held()) {
            return held;
        }
    }
    return std::nullopt;
}

/// While its proposer is held an idea gets no candidates; everything else goes on.
void Planner::applyHolds()
{
    for (const auto& proposer : m_proposers) {
        if (!proposer->held()) {
            continue;
        }
        for (const auto& [id, node] : m_tree.nodes()) {
            if (node.kind == NodeKind::Idea && !node.exhausted && node.proposer == proposer->name()) {
                m_tree.find(id)->exhausted = true;
                m_heldIdeas.insert(id);
            }
        }
    }
}

void Planner::goOn()
{
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
    if (std::none_of(m_proposers.begin(), m_proposers.end(), [](const auto& proposer) { return proposer->repairs() > 0; })) {
        return std::nullopt;
    }
    for (const auto& [id, node] : m_tree.nodes()) {
        if (node.kind != NodeKind::Candidate || !node.verdict || node.mended || !node.parent || !m_tree.inSearch(id)) {
            continue;
        }
        const Outcome outcome = node.verdict->outcome;
        if (outcome != Outcome::BuildFailed && outcome != Outcome::Incorrect && outcome != Outcome::RuntimeFailed &&
            outcome != Outcome::TimedOut) {
            continue; // a suspicious one is not helped to look honest
        }
        const TreeNode& idea = m_tree.at(*node.parent);
        const Proposer* proposer = node.proposer == idea.proposer ? proposerNamed(node.proposer) : nullptr;
        if (idea.kind != NodeKind::Idea || idea.boost <= 0 || !proposer || proposer->held()) {
            continue;
        }
        int number = 1;
        for (auto before = node.mends; before; before = m_tree.at(*before).mends) {
            ++number;
        }
        if (number <= proposer->repairs()) {
            return id;
        }
    }
    return std::nullopt;
}

} // namespace espalier
