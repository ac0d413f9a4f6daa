// SPDX-License-Identifier: Apache-2.0
// Others take part in a search that is under way.
#include "core/search/asked_proposers.h"
#include "core/search/node_payload.h"
#include "core/search/planner.h"

#include <algorithm>

namespace espalier {

void Planner::changeProposers(const std::vector<std::string>& names, ProposerSet::List made)
{
    for (Proposer* leaving : m_proposers.leaving(names, made)) {
        release(*leaving);
    }
    m_proposers.change(names, std::move(made));
    for (const auto& settled : {settleWriters(), settleAsked()}) {
        if (!settled) {
            return trouble(settled.error());
        }
    }
    finishAsking();
    finishGenerating();
}

/// What it was asked is taken back. Kernels that it has not written yet are asked for again, of whoever has its name
/// then; where nobody has, they end without a source.
void Planner::release(Proposer& leaving)
{
    if (m_asking) {
        for (const AskedProposer& asked : m_asking->answers) {
            if (asked.proposer == &leaving && !asked.answer) {
                leaving.cancel(asked.request);
            }
        }
        std::erase_if(m_asking->answers, [&leaving](const AskedProposer& one) { return one.proposer == &leaving; });
    }
    std::erase_if(m_generating, [&](const Generating& one) {
        if (one.answer || m_tree.at(one.node).proposer != leaving.name()) {
            return false;
        }
        leaving.cancel(one.request);
        m_book.returnedToQueue(one.node);
        m_unanswered.push_back(one.node);
        return true;
    });
    std::sort(m_unanswered.begin(), m_unanswered.end());
}

/// Who implements which idea now, and repairs which candidate.
Result<void> Planner::settleWriters()
{
    m_unwritten.clear();
    m_heldIdeas.clear(); // those that are held still are found again
    for (const auto& [id, node] : m_tree.nodes()) {
        TreeNode& entry = *m_tree.find(id);
        if (node.kind != NodeKind::Idea) {
            entry.mendable = mendable(entry);
            continue;
        }
        ESPALIER_TRY(const StoredNode idea, stored(id));
        applyWords(entry, idea, NodePayload::parse(idea.payload));
        if (entry.exhausted && entry.byEngineer) {
            m_unwritten.push_back(id);
        }
        if (!entry.children.empty()) {
            updateIdeaState(id);
        }
    }
    return {};
}

/// Under which parents everybody was asked who takes part now.
Result<void> Planner::settleAsked()
{
    std::vector<std::string> names;
    for (const auto& proposer : m_proposers) {
        names.emplace_back(proposer->name());
    }
    ESPALIER_TRY(const std::set<NodeId> asked, AskedProposers(m_journal).askedAll(names));
    m_askAgain.clear();
    for (const auto& [id, node] : m_tree.nodes()) {
        if (const bool now = asked.contains(id); node.kind != NodeKind::Idea && node.asked != now) {
            m_tree.find(id)->asked = now;
        }
    }
    return {};
}

} // namespace espalier
