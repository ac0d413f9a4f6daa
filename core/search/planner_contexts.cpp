// SPDX-License-Identifier: Apache-2.0
// What a proposer is told.
#include "core/search/planner.h"

#include "core/search/node_payload.h"
#include "core/search/own_prompt.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <utility>

namespace espalier {

std::vector<LineageStep> Planner::lineageOf(NodeId id) const
{
    std::vector<LineageStep> steps;
    for (const TreeNode* node = m_tree.find(id); node; node = node->parent ? m_tree.find(*node->parent) : nullptr) {
        if (node->kind == NodeKind::Idea) {
            steps.push_back({node->proposer, node->key});
        }
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
}

Result<IdeaContext> Planner::ideaContext(NodeId parent)
{
    ESPALIER_TRY(const StoredNode node, stored(parent));
    IdeaContext context;
    context.task = m_heldTask;
    context.seed = m_setup.seed;
    context.parent = parent;
    context.parentIsTaskRoot = parent == taskRoot;
    context.parentSource = node.source;
    context.parentProposer = node.proposer;
    context.lineage = lineageOf(parent);
    context.independent = m_strategy->independentIdeas();
    context.parentTitle = parent == taskRoot ? "root" : node.title;
    context.parentScore = m_tree.score(parent);
    if (m_proposers.writer()) {
        ESPALIER_TRY(context.background, background(parent));
    }
    return context;
}

/// For candidate `node` of the idea, stored or the next to come; `failed`: the one that it mends.
Result<ImplementContext> Planner::implementContext(NodeId idea, NodeId node, std::optional<NodeId> failed)
{
    const auto parent = m_tree.parentCandidate(idea);
    assert(parent);
    ESPALIER_TRY(const StoredNode ideaNode, stored(idea));
    ESPALIER_TRY(const StoredNode parentNode, stored(*parent));
    const NodePayload payload = NodePayload::parse(ideaNode.payload);
    ImplementContext context;
    context.task = m_heldTask;
    context.seed = m_setup.seed;
    context.idea = idea;
    context.key = payload.key;
    context.title = ideaNode.title;
    context.text = ideaNode.ideaText;
    context.payload = payload.edited ? std::string() : payload.own; // that is of who does not implement it
    context.parent = *parent;
    context.parentSource = parentNode.source;
    context.parentScore = m_tree.score(*parent);
    context.node = node;
    NodeId first = failed.value_or(node); // a repair counts as the implementation that it goes back to
    for (const TreeNode* entry = m_tree.find(first); entry && entry->mends; entry = m_tree.find(first)) {
        first = *entry->mends;
    }
    for (const NodeId child : m_tree.at(idea).children) {
        const TreeNode& other = m_tree.at(child);
        if (other.kind == NodeKind::Candidate && !other.beside && child < first) {
            const auto own = m_payloads.find(child);
            context.earlier.push_back({context.ordinal++, own == m_payloads.end() ? std::string() : own->second,
                                       other.verdict ? std::optional(other.verdict->outcome) : std::nullopt,
                                       m_tree.score(child)});
        }
    }
    if (const auto second = m_tree.at(idea).crossedWith) {
        ESPALIER_TRY(StoredNode other, stored(*second));
        context.second = second;
        context.secondSource = std::move(other.source);
    }
    const auto own = m_payloads.find(node);
    context.prompt = own == m_payloads.end() ? std::string() : ownPromptIn(own->second);
    if (failed) {
        ESPALIER_TRY(const StoredNode broken, stored(*failed));
        ESPALIER_TRY(Evaluation evaluation, evaluationOf(*failed));
        context.failed = FailedTry{*failed, broken.source, std::move(evaluation), 1};
        for (auto before = m_tree.at(*failed).mends; before; before = m_tree.at(*before).mends) {
            ++context.failed->number;
        }
    }
    const Proposer* writer = m_proposers.named(m_tree.at(idea).proposer);
    if (writer && writer->readsBackground()) { // it looks at every node: not for a tuner beside a model
        ESPALIER_TRY(context.background, background(*parent));
        if (!failed && context.prompt.empty()) { // the engineer's own words stand for themselves
            ESPALIER_TRY(context.refined, refinedTry(idea, node));
        }
    }
    return context;
}

Result<StoredNode> Planner::stored(NodeId id)
{
    ESPALIER_TRY(std::optional<StoredNode> node, m_journal.store().node(id));
    if (!node) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", id.value));
    }
    return std::move(*node);
}

} // namespace espalier
