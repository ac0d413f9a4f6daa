// SPDX-License-Identifier: Apache-2.0
// Asks the proposers for ideas and puts nodes into the tree.
#include "core/search/planner.h"

#include "core/search/asked_proposers.h"
#include "core/search/node_payload.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace espalier {

void Planner::askIdeas(NodeId parent, const IdeaRequest* byHand, const std::string& why)
{
    auto context = ideaContext(parent);
    if (!context) {
        return trouble(context.error());
    }
    if (byHand) {
        context->prompt = byHand->prompt;
        context->round = byHand->round;
    }
    const auto before = AskedProposers(m_journal).under(parent);
    if (!before) {
        return trouble(before.error());
    }
    m_asking = Asking{parent, {}, byHand != nullptr, why};
    for (const auto& proposer : m_proposers) {
        // The engineer asks models, not the playbook; who joined the search is asked where the others were before.
        if (byHand ? !proposer->readsBackground() : before->contains(proposer->name())) {
            continue;
        }
        AskedProposer asked{RequestId{m_nextRequest++}, proposer.get(), std::nullopt};
        if (proposer->held()) {
            asked.answer = proposer::Ideas{.id = asked.request, .ideas = {}, .dropped = {}, .postponed = true};
            m_asking->answers.push_back(std::move(asked));
            continue;
        }
        m_asking->answers.push_back(asked);
        proposer->ideas(asked.request, *context);
    }
    collect();
    finishAsking();
}

void Planner::finishAsking()
{
    if (!m_asking || std::any_of(m_asking->answers.begin(), m_asking->answers.end(),
                                 [](const AskedProposer& asked) { return !asked.answer.has_value(); })) {
        return;
    }
    const Asking asked = *std::exchange(m_asking, std::nullopt);
    settleSpending(asked.parent);
    AskedProposers::Names answered, postponed;
    for (const AskedProposer& one : asked.answers) {
        (one.answer->postponed ? postponed : answered).emplace(one.proposer->name());
        noteDropped(asked.parent, *one.proposer, one.answer->dropped);
        if (!addIdeas(m_tree.at(asked.parent), *one.proposer, one.answer->ideas, asked.why)) {
            return; // asked again when the run goes on; the ideas that are there stay
        }
    }
    if (asked.byHand) {
        // Who has come meanwhile, perhaps in the place of one that was asked, has not answered: the request stays.
        if (std::all_of(m_proposers.begin(), m_proposers.end(), [&answered](const auto& one) {
                return !one->readsBackground() || answered.contains(one->name());
            })) {
            m_ideaRequests.pop_front();
            if (const auto result = keepIdeaRequests(); !result) {
                trouble(result.error());
            }
        }
        return;
    }
    // A model's answer must not be paid for twice; and asking a playbook again brings nothing, but costs a large
    // session seconds when every parent of it is asked.
    const AskedProposers record(m_journal);
    const auto noted = answered.empty() ? Result<void>() : record.add(asked.parent, answered);
    const auto all = noted ? record.under(asked.parent) : std::unexpected(noted.error());
    if (!all) {
        return trouble(all.error());
    }
    if (!postponed.empty()) {
        m_askAgain.insert(asked.parent);
    }
    // One that could not answer counts until it can be asked; one that has come meanwhile is asked next.
    m_tree.find(asked.parent)->asked = std::all_of(m_proposers.begin(), m_proposers.end(), [&](const auto& one) {
        return all->contains(one->name()) || postponed.contains(one->name());
    });
}

bool Planner::addIdeas(const TreeNode& parent, const Proposer& proposer, const std::vector<ProposedIdea>& ideas,
                       const std::string& why)
{
    for (const ProposedIdea& idea : ideas) {
        const bool known = std::any_of(parent.children.begin(), parent.children.end(), [&](NodeId child) {
            const TreeNode& node = m_tree.at(child);
            const bool own = node.proposer == proposer.name() || node.byEngineer; // who edited it has left its key
            return node.kind == NodeKind::Idea && own && node.key == idea.key;
        });
        if (known) {
            continue;
        }
        if (const auto result = grow(ideaNode(parent.id, proposer, idea, why)); !result) {
            trouble(result.error());
            return false;
        }
    }
    return true;
}

StoredNode Planner::ideaNode(NodeId parent, const Proposer& proposer, const ProposedIdea& idea,
                             const std::string& why) const
{
    StoredNode node;
    node.id = m_book.nextId();
    node.kind = NodeKind::Idea;
    node.parents = {{parent, EdgeRole::Primary}};
    node.ordinal = m_book.childrenOf(parent);
    node.title = idea.title;
    node.ideaText = idea.text;
    node.proposer = proposer.name();
    node.payload =
        NodePayload{.key = idea.key, .planned = idea.implementations, .own = idea.payload, .why = why}.text();
    node.createdAt = timestamp();
    return node;
}

/// Stores a new node and puts it into tree and book.
Result<void> Planner::grow(const StoredNode& node)
{
    ESPALIER_CHECK(m_journal.addNode(node));
    place(node);
    return {};
}

void Planner::place(const StoredNode& node)
{
    place(node, NodePayload::parse(node.payload));
}

void Planner::place(const StoredNode& node, const NodePayload& payload)
{
    TreeNode entry;
    entry.id = node.id;
    entry.kind = node.kind;
    entry.parent = node.parents.empty() ? std::nullopt : std::optional(node.parents.front().parent);
    entry.ordinal = node.ordinal;
    entry.title = node.title;
    entry.key = payload.key;
    entry.byHand = payload.byHand;
    if (node.kind == NodeKind::Idea) {
        applyWords(entry, node, payload);
        if (entry.exhausted && entry.byEngineer) {
            m_unwritten.push_back(node.id);
        }
    } else {
        entry.proposer = node.proposer;
        entry.byEngineer = node.proposer == "engineer";
    }
    entry.pinned = node.pinned;
    entry.pruned = node.pruned;
    entry.boost = node.boost;
    if (!node.source.empty()) {
        entry.traits = traitsOfSource(node.source);
    }
    for (const Edge& edge : node.parents) {
        if (edge.role == EdgeRole::Crossover) {
            entry.crossedWith = edge.parent;
        }
        TreeNode* mended = edge.role == EdgeRole::Repair ? m_tree.find(edge.parent) : nullptr;
        if (mended) {
            entry.mends = edge.parent;
            mended->mended = true;
            entry.beside = true;
        }
    }
    if (TreeNode* idea = node.kind == NodeKind::Candidate && entry.parent ? m_tree.find(*entry.parent) : nullptr;
        idea && idea->kind == NodeKind::Idea) {
        entry.beside = entry.beside || (entry.byEngineer && !idea->byEngineer);
        idea->childrenBeside += entry.beside ? 1 : 0;
    }
    entry.mendable = mendable(entry);
    m_tree.add(std::move(entry));
    m_book.add(node);
    if (node.kind != NodeKind::Idea) {
        m_payloads.emplace_hint(m_payloads.end(), node.id, payload.own);
        m_tokens += payload.tokens;
        m_usd += payload.usd;
    }
}

/// Whose words an idea has, and what follows for who implements it.
void Planner::applyWords(TreeNode& idea, const StoredNode& node, const NodePayload& payload) const
{
    idea.edited = payload.edited.has_value();
    idea.byEngineer = node.proposer == "engineer" || idea.edited;
    idea.proposer = idea.byEngineer ? std::string(m_proposers.writer() ? m_proposers.writer()->name() : node.proposer)
                                    : node.proposer;
    idea.planned = idea.edited ? 1 : payload.planned;
    const Proposer* writer = m_proposers.named(idea.proposer);
    idea.exhausted = !writer || (idea.edited && !writer->readsBackground());
    idea.oneByOne = writer && writer->readsBackground();
    idea.draw = SearchTree::drawOfIdea(idea);
}

} // namespace espalier
