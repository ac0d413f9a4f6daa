// SPDX-License-Identifier: Apache-2.0
// Ideas of two parents: the strategy's and the engineer's.
#include "core/search/planner.h"

#include "core/search/node_payload.h"

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr double crossingBoost = 2; ///< of the engineer's: it is the next one, and worth more than others after that

} // namespace

void Planner::crossOver(const decision::Crossover& decided)
{
    const auto idea = crossing(decided.first, decided.second, decided.why, false);
    if (!idea) {
        return trouble(idea.error());
    }
    if (!*idea) {
        return m_tree.refuseCrossing(decided.first, decided.second);
    }
    if (const auto grown = grow(**idea); !grown) {
        trouble(grown.error());
    }
}

Result<NodeId> Planner::crossOver(NodeId first, NodeId second)
{
    for (const NodeId id : {first, second}) {
        const NodeSummary* summary = m_book.find(id);
        if (!summary) {
            return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", id.value));
        }
        if (summary->kind == NodeKind::Idea || summary->outcome != Outcome::Passed) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("Node {} is no kernel that has passed: cross two that have.", id.value));
        }
        if (!summary->banned.empty()) {
            return fail(ErrorCode::InvalidInput, fmt::format("Node {} is banned ({}): lift the ban, or cross others.",
                                                             id.value, summary->banned));
        }
    }
    if (first == second) {
        return fail(ErrorCode::InvalidInput, "A kernel cannot be crossed with itself: name two nodes.");
    }
    for (const NodeId child : m_tree.at(first).children) {
        if (m_tree.at(child).crossedWith == second) {
            return fail(ErrorCode::InvalidInput, fmt::format("Nodes {} and {} are crossed already: see node {}.",
                                                             first.value, second.value, child.value));
        }
    }
    ESPALIER_TRY(const std::optional<StoredNode> idea,
                 crossing(first, second, "the engineer crossed two kernels", true));
    if (!idea) {
        return fail(
            ErrorCode::NotSupported,
            fmt::format("No proposer of this session can cross nodes {} and {}: a model can cross any two kernels, "
                        "the tuner those that declare the same tunables.",
                        first.value, second.value));
    }
    ESPALIER_CHECK(
        m_acts.perform({{"act", "cross"}, {"node", first.value}, {"second", second.value}, {"new", idea->id.value}},
                       grown(idea->id), {[&] { return m_journal.addNode(*idea); }, [&] { place(*idea); }}));
    return idea->id;
}

/// From the first proposer that knows how to make one; nullopt: none does.
Result<std::optional<StoredNode>> Planner::crossing(NodeId firstId, NodeId secondId, const std::string& why,
                                                    bool byHand)
{
    ESPALIER_TRY(const StoredNode first, stored(firstId));
    ESPALIER_TRY(const StoredNode second, stored(secondId));
    const CrossingContext context{m_heldTask, m_setup.seed,  firstId,     first.source,
                                  secondId,   second.source, second.title};
    for (const auto& proposer : m_proposers) {
        const std::optional<ProposedIdea> idea = proposer->crossing(context);
        if (!idea) {
            continue;
        }
        StoredNode node = ideaNode(firstId, *proposer, *idea, why);
        node.parents.push_back({secondId, EdgeRole::Crossover});
        if (byHand) {
            NodePayload payload = NodePayload::parse(node.payload);
            payload.byHand = true;
            node.payload = payload.text();
            node.boost = crossingBoost;
        }
        return node;
    }
    return std::nullopt;
}

/// The oldest idea of the engineer's crossing that has no candidate yet and may get one. A function of the tree.
std::optional<NodeId> Planner::crossedByHand() const
{
    for (const NodeId id : m_tree.boostedIdeas()) {
        const TreeNode& idea = m_tree.at(id);
        if (idea.byHand && idea.tries() == 0) {
            return id;
        }
    }
    return std::nullopt;
}

} // namespace espalier
