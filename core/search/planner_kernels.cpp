// SPDX-License-Identifier: Apache-2.0
// From an idea to a candidate in the pipeline.
#include "core/search/planner.h"

#include "core/propose/source_text.h"
#include "core/propose/tunables.h"
#include "core/search/editions.h"
#include "core/search/node_payload.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <fmt/format.h>
#include <utility>

namespace espalier {
namespace {

constexpr std::size_t textsAtOnce = 16; ///< some milliseconds

} // namespace

/// False when no candidate came of it.
bool Planner::implement(NodeId idea, std::optional<NodeId> failed, const std::string& why)
{
    const auto context = implementContext(idea, m_book.nextId(), failed);
    if (!context) {
        trouble(context.error());
        return false;
    }
    const TreeNode& ideaNode = m_tree.at(idea);
    Proposer* proposer = m_proposers.named(ideaNode.proposer);
    assert(proposer); // ideas of absent proposers are marked exhausted
    StoredNode node;
    node.id = m_book.nextId();
    node.kind = NodeKind::Candidate;
    node.state = NodeState::Queued;
    node.parents = {{idea, EdgeRole::Primary}};
    if (failed) {
        node.parents.push_back({*failed, EdgeRole::Repair});
    }
    node.ordinal = m_book.childrenOf(idea);
    node.title = ideaNode.title;
    node.ideaText = context->text;
    node.proposer = ideaNode.proposer;
    node.payload = NodePayload{.why = why}.text();
    node.createdAt = timestamp();
    m_whys[node.id] = why;
    m_generating.push_back({RequestId{m_nextRequest++}, node.id, std::nullopt});
    proposer->implement(m_generating.back().request, *context);
    collect();
    if (m_generating.size() == 1 && m_generating.front().answer) { // an instant answer is one node, written once
        const proposer::Implementation answer = std::move(*m_generating.front().answer);
        m_generating.clear();
        if (answer.postponed) {
            return false; // decided again when its proposer can be asked
        }
        if (answer.exhausted) {
            m_tree.find(idea)->exhausted = true;
            return false;
        }
        enter(std::move(node), answer, false);
        return !m_trouble;
    }
    if (const auto result = addCandidate(node); !result) {
        proposer->cancel(m_generating.back().request);
        m_generating.pop_back();
        trouble(result.error());
        return false;
    }
    m_book.stageBegan(node.id, Stage::Generate);
    return true;
}

void Planner::collect()
{
    for (const auto& proposer : m_proposers) {
        for (proposer::Answer& answer : proposer->receive()) {
            if (auto* ideas = std::get_if<proposer::Ideas>(&answer)) {
                if (m_asking) {
                    for (AskedProposer& asked : m_asking->answers) {
                        if (asked.request == ideas->id) {
                            asked.answer = std::move(*ideas);
                            break;
                        }
                    }
                }
                continue;
            }
            auto& implementation = std::get<proposer::Implementation>(answer);
            for (Generating& generating : m_generating) {
                if (generating.request == implementation.id) {
                    generating.answer = std::move(implementation);
                    break;
                }
            }
        }
    }
}

void Planner::onProposers()
{
    collect();
    finishAsking();
    finishGenerating();
}

/// Kernels enter in the order in which they were asked for: which of two equal ones is the duplicate must not depend on
/// who answered first.
void Planner::finishGenerating()
{
    while (!m_generating.empty() && m_generating.front().answer && !m_trouble) {
        auto node = stored(m_generating.front().node);
        if (!node) {
            return trouble(node.error());
        }
        const proposer::Implementation answer = std::move(*m_generating.front().answer);
        m_generating.pop_front();
        m_book.returnedToQueue(node->id);
        if (answer.postponed) {
            m_postponed.push_back(node->id);
            park(node->id);
            continue;
        }
        enter(std::move(*node), answer, true);
    }
}

Result<void> Planner::addCandidate(StoredNode node)
{
    ESPALIER_CHECK(m_journal.addNode(node));
    placeCandidate(node);
    return {};
}

void Planner::placeCandidate(const StoredNode& node)
{
    place(node);
    m_inFlight.insert(std::upper_bound(m_inFlight.begin(), m_inFlight.end(), node.id), node.id);
    if (!node.parents.empty()) {
        updateIdeaState(node.parents.front().parent);
    }
}

void Planner::enter(StoredNode node, const proposer::Implementation& answer, bool isStored)
{
    node.source = answer.source;
    const std::string why = NodePayload::parse(node.payload).why;
    node.payload = NodePayload{.own = answer.payload, .tokens = answer.tokens, .usd = answer.usd, .why = why}.text();
    if (!answer.title.empty()) {
        node.title = answer.title;
    }
    const Result<void> result = isStored ? m_journal.updateNode(node) : addCandidate(node);
    if (!result) {
        return trouble(result.error());
    }
    if (isStored) {
        m_payloads[node.id] = answer.payload;
        m_tree.find(node.id)->traits = traitsOfSource(node.source);
        m_tokens += answer.tokens;
        m_usd += answer.usd;
        m_book.update(node);
    }
    if (node.source.empty()) {
        const std::string reason = answer.reason.empty() ? "The proposer gave no kernel." : answer.reason;
        return m_pipeline.endWithoutSource(node.id, reason);
    }
    admit(node, nullptr);
}

/// The gate before the pipeline: a stored candidate with a source.
void Planner::admit(const StoredNode& node, const MergedRecords* records)
{
    const auto twin = firstWithIdentity(sourceIdentity(node.source), node.id);
    if (twin && !(records && records->built)) {
        return m_pipeline.endWithoutSource(
            node.id, fmt::format("Its source is the same as that of node {} (\"{}\"): it is not built twice.",
                                 twin->value, m_book.find(*twin)->title));
    }
    PassStart start{.node = node.id, .source = node.source};
    start.own = node.proposer == "engineer";
    if (node.id == taskRoot) { // another edition's: beside the root that all ratios are over
        auto before = editions::rootOfRatios(m_journal.store());
        if (!before) {
            return trouble(before.error());
        }
        start.parentSource = std::move(*before);
    }
    const auto parent = m_tree.parentCandidate(node.id);
    if (parent) {
        const auto above = stored(*parent);
        if (!above) {
            return trouble(above.error());
        }
        if (node.proposer != "engineer" && node.proposer != "playbook") {
            if (const auto kept = checkLocks(above->source, node.source); !kept) {
                return m_pipeline.endWithoutSource(node.id, kept.error().message);
            }
        }
        if (*parent != taskRoot && !above->source.empty()) {
            start.parentSource = above->source;
        }
    }
    start.foreseen = foreseenAfter(node);
    start.remarks = likeness(node);
    if (records) {
        start.soFar = records->evaluation;
        start.built = records->built;
        start.verified = records->verified;
    }
    m_pipeline.add(std::move(start));
}

std::vector<std::string> Planner::foreseenAfter(const StoredNode& node) const
{
    const TreeNode& entry = m_tree.at(node.id);
    const bool isRoot = node.id == taskRoot;
    if (!isRoot && (!entry.parent || m_tree.at(*entry.parent).kind != NodeKind::Idea)) {
        return {};
    }
    std::vector<std::string> sources;
    for (const auto& proposer : m_proposers) {
        if (isRoot || proposer->name() == entry.proposer) {
            const std::string key = isRoot ? std::string() : m_tree.at(*entry.parent).key;
            const std::vector<std::string> more = proposer->sourcesAfter(*m_setup.task, key);
            sources.insert(sources.end(), more.begin(), more.end());
        }
    }
    return sources;
}

/// The oldest node before `before` with the same kernel; registers the source.
std::optional<NodeId> Planner::firstWithIdentity(const std::string& identity, NodeId before)
{
    const auto twin = twinOf(identity);
    if (twin && *twin < before) {
        return twin;
    }
    knowSource(identity, before);
    return std::nullopt;
}

/// The oldest node stands for a kernel, of those that were judged where there are any.
void Planner::knowSource(const std::string& identity, NodeId node)
{
    const auto [entry, added] = m_sources.try_emplace(identity, node);
    if (node < entry->second || m_endedByBan.contains(entry->second) || prunedUnjudged(entry->second)) {
        entry->second = node;
    }
}

/// Candidates that the node's text may honestly come from: those above it, and the tries of its idea that came before.
std::vector<NodeId> Planner::mayHaveReadFrom(NodeId node) const
{
    std::vector<NodeId> sources;
    const auto take = [&](const TreeNode& parent) {
        for (const NodeId child : parent.children) {
            if (child != node) {
                sources.push_back(child);
            }
        }
    };
    for (std::optional<NodeId> above = m_tree.at(node).parent; above; above = m_tree.at(*above).parent) {
        const TreeNode& entry = m_tree.at(*above);
        if (entry.kind != NodeKind::Idea) {
            sources.push_back(entry.id);
        } else if (entry.id == m_tree.at(node).parent) {
            take(entry);
        }
        if (entry.crossedWith) {
            sources.push_back(*entry.crossedWith);
        }
    }
    return sources;
}

/// Texts enter the index only when something is to be compared with them: a search without models never pays for it.
void Planner::indexTexts(std::size_t most)
{
    for (; !m_unindexed.empty() && most > 0; --most) {
        const NodeId id = m_unindexed.front();
        m_unindexed.pop_front();
        if (const auto node = stored(id); node && !node->source.empty()) {
            m_similar.add(id, node->source, mayHaveReadFrom(id));
        }
    }
}

bool Planner::indexAhead()
{
    if (m_unindexed.empty() || !m_proposers.writer()) {
        return false;
    }
    indexTexts(textsAtOnce);
    return !m_unindexed.empty();
}

/// The alarm for a solution that came from elsewhere in the session. Not for the built-in proposers: their texts are
/// known.
std::vector<Evidence> Planner::likeness(const StoredNode& node)
{
    m_unindexed.push_back(node.id);
    if (node.proposer == "playbook" || node.proposer == "tuner" || node.id == taskRoot) {
        return {};
    }
    m_unindexed.pop_back(); // not like itself
    indexTexts(m_unindexed.size());
    const std::vector<NodeId> lineage = mayHaveReadFrom(node.id);
    const std::optional<Likeness> like = m_similar.closest(node.source, lineage);
    m_similar.add(node.id, node.source, lineage);
    if (!like || like->share() < SimilarityIndex::alarming) {
        return {};
    }
    return {{"review", fmt::format("{:.0f} % of what is new in its text stands in node {} (\"{}\") too, which is no "
                                   "ancestor of it: see whether it was copied.",
                                   100 * like->share(), like->node.value, m_book.find(like->node)->title)}};
}

void Planner::updateIdeaState(NodeId id)
{
    const TreeNode& idea = m_tree.at(id);
    if (idea.kind != NodeKind::Idea) {
        return;
    }
    const bool complete = idea.exhausted || idea.tries() >= idea.planned;
    const NodeState state = complete ? NodeState::Done : NodeState::Queued;
    if (m_book.find(id)->state == state) {
        return;
    }
    auto node = stored(id);
    if (!node) {
        return trouble(node.error());
    }
    node->state = state;
    if (const auto result = m_journal.updateNode(*node); !result) {
        return trouble(result.error());
    }
    m_book.setState(id, state);
}

} // namespace espalier
