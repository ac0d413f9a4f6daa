// SPDX-License-Identifier: Apache-2.0
// What the engineer does to the tree. Every act is stored before it counts.
#include "core/search/planner.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/propose/source_text.h"
#include "core/search/node_payload.h"
#include "core/search/overturns.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::size_t longestSource = std::size_t{1} << 20;
constexpr std::size_t longestText = std::size_t{64} << 10;

Result<void> checkTexts(const std::string& title, const std::string& text)
{
    if (trimmed(title).empty()) {
        return fail(ErrorCode::InvalidInput, "The idea has no title: give it a few words.");
    }
    if (title.size() + text.size() > longestText) {
        return fail(ErrorCode::InvalidInput, "The idea's text is longer than 64 KiB: shorten it.");
    }
    return {};
}

} // namespace

Replaced Planner::grown(NodeId node)
{
    return {.field = "pruned", .node = node, .value = true};
}

Result<Change> Planner::nodeChange(NodeId id, const std::function<void(StoredNode&)>& edit)
{
    ESPALIER_TRY(StoredNode node, stored(id));
    edit(node);
    return Change{[this, node] { return m_journal.updateNode(node); },
                  [this, node]() mutable {
                      TreeNode* entry = m_tree.find(node.id);
                      entry->pinned = node.pinned;
                      entry->pruned = node.pruned;
                      entry->boost = node.boost;
                      entry->title = node.title;
                      const NodePayload payload = NodePayload::parse(node.payload);
                      if (node.kind == NodeKind::Idea && entry->edited != payload.edited.has_value()) {
                          applyWords(*entry, node, payload);
                      }
                      // A node at work is stored as queued; what observers see of its state stays.
                      node.state = m_book.find(node.id)->state;
                      m_book.update(node);
                      unparkRestored();
                  }};
}

/// `field`: what is changed and can be put back.
Result<void> Planner::change(NodeId id, const char* what, const char* field,
                             const std::function<void(StoredNode&)>& edit)
{
    ESPALIER_TRY(const StoredNode before, stored(id));
    StoredNode after = before;
    edit(after);
    ESPALIER_TRY(const Change change, nodeChange(id, edit));
    const Json values = {{"pinned", before.pinned},
                         {"pruned", before.pruned},
                         {"boost", before.boost},
                         {"words", {{"title", before.title}, {"text", before.ideaText}, {"payload", before.payload}}}};
    return m_acts.perform(
        {{"act", what}, {"node", id.value}, {"pinned", after.pinned}, {"pruned", after.pruned}, {"boost", after.boost}},
        {.field = field, .node = id, .value = values[field]}, change);
}

Result<void> Planner::setPinned(NodeId node, bool pinned)
{
    return change(node, pinned ? "pin" : "unpin", "pinned", [pinned](StoredNode& stored) { stored.pinned = pinned; });
}

Result<void> Planner::setBoost(NodeId node, double boost)
{
    if (!std::isfinite(boost) || boost < 0 || boost > 1000) {
        return fail(ErrorCode::InvalidInput, fmt::format("A boost lies between 0 and 1000; {} does not.", boost));
    }
    return change(node, "boost", "boost", [boost](StoredNode& stored) { stored.boost = boost; });
}

Result<void> Planner::setPruned(NodeId node, bool pruned)
{
    if (pruned && m_tree.root() && node == m_tree.root()->id) {
        return fail(ErrorCode::InvalidInput, "The task's root cannot be pruned: everything is compared with it.");
    }
    if (pruned) {
        ESPALIER_CHECK(m_book.checkUnprotected(node));
    }
    // Observers draw whole subtrees as pruned, but each node carries its own flag only: nothing else changed.
    return change(node, pruned ? "prune" : "restore", "pruned",
                  [pruned](StoredNode& stored) { stored.pruned = pruned; });
}

/// What was taken out of the order because it was pruned before it ran, and is in the search again.
void Planner::unparkRestored()
{
    std::vector<NodeId> back;
    for (const NodeId id : m_parked) {
        if (!m_book.pruned(id)) {
            back.push_back(id);
        }
    }
    for (const NodeId id : back) {
        m_parked.erase(id);
        m_inFlight.insert(std::upper_bound(m_inFlight.begin(), m_inFlight.end(), id), id);
    }
}

Result<void> Planner::overturn(NodeId node, Outcome as, const std::string& reason)
{
    const NodeSummary* summary = m_book.find(node);
    if (!summary) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", node.value));
    }
    if (trimmed(reason).empty() || reason.size() > longestText) {
        return fail(ErrorCode::InvalidInput,
                    "An overturned verdict needs a reason: say in a sentence what you know that the "
                    "judge does not.");
    }
    const Outcome judged = summary->overturned ? summary->overturned->judged : summary->outcome;
    const bool verdict = judged == Outcome::Passed || judged == Outcome::Incorrect || judged == Outcome::Suspicious ||
                         judged == Outcome::RuntimeFailed || judged == Outcome::TimedOut;
    if (summary->kind == NodeKind::Idea || summary->state != NodeState::Done || !verdict) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("Node {} has no verdict of the judge's that could be overturned.", node.value));
    }
    if (node == taskRoot) {
        return fail(ErrorCode::InvalidInput, "The task's root cannot be overturned: everything is compared with it.");
    }
    Overturn overturn{as, std::string(trimmed(reason)), m_acts.author(), timestamp(), judged};
    Replaced replaced{.field = "overturn", .node = node, .value = toJson(summary->overturned)};
    return m_acts.perform(actOf(node, overturn), std::move(replaced), overturnChange(node, overturn));
}

/// The act itself is all that is stored.
Change Planner::overturnChange(NodeId node, const std::optional<Overturn>& overturn)
{
    return {.store = {}, .apply = [this, node, overturn] {
                m_book.overturn(node, overturn);
                const Outcome outcome = m_book.find(node)->outcome;
                if (TreeNode* entry = m_tree.find(node); entry && entry->verdict) {
                    entry->verdict->outcome = outcome;
                }
                if (const auto arrived = m_arrived.find(node); arrived != m_arrived.end()) {
                    arrived->second.outcome = outcome;
                }
            }};
}

Result<NodeId> Planner::addIdea(NodeId parent, const std::string& title, const std::string& text)
{
    ESPALIER_CHECK(checkTexts(title, text));
    const TreeNode* above = m_tree.find(parent);
    if (!above) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", parent.value));
    }
    if (above->kind == NodeKind::Idea) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("Node {} is an idea: add the new one under a root or a candidate.", parent.value));
    }
    StoredNode node;
    node.id = m_book.nextId();
    node.kind = NodeKind::Idea;
    node.parents = {{parent, EdgeRole::Primary}};
    node.ordinal = m_book.childrenOf(parent);
    node.title = title;
    node.ideaText = text;
    node.proposer = "engineer";
    node.payload = NodePayload{.key = fmt::format("engineer-{}", node.id.value)}.text();
    node.createdAt = timestamp();
    ESPALIER_CHECK(m_acts.perform({{"act", "add-idea"}, {"node", node.id.value}}, grown(node.id),
                                  {[&] { return m_journal.addNode(node); }, [&] { place(node); }}));
    return node.id;
}

Result<void> Planner::editIdea(NodeId idea, const std::string& title, const std::string& text)
{
    ESPALIER_CHECK(checkTexts(title, text));
    const NodeSummary* summary = m_book.find(idea);
    if (!summary) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", idea.value));
    }
    if (summary->kind != NodeKind::Idea || summary->state != NodeState::Draft) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("Node {} is no draft: only ideas without candidates can be edited.", idea.value));
    }
    ESPALIER_TRY(const StoredNode before, stored(idea));
    NodePayload payload = NodePayload::parse(before.payload);
    const Proposer* own = m_proposers.named(before.proposer);
    if (own && !own->readsBackground()) { // it goes by the idea's key and does not read words
        const std::string theirs = payload.edited.value_or(before.ideaText);
        payload.edited = text == theirs ? std::nullopt : std::optional(theirs);
        if (payload.edited && !m_proposers.writer()) {
            return fail(
                ErrorCode::InvalidInput,
                fmt::format(
                    "The {} implements its own ideas only, as it has them: add a proposer that writes kernels "
                    "(steer proposers add llm) to change what node {} says, or inject a kernel of your own under it.",
                    before.proposer, idea.value));
        }
    }
    return change(idea, "edit", "words", [&](StoredNode& stored) {
        stored.title = title;
        stored.ideaText = text;
        stored.payload = payload.text();
    });
}

/// A kernel that was taken back before it had a verdict, and is given again at the same place: it comes back as it was.
Result<std::optional<NodeId>> Planner::putBack(std::optional<NodeId> parent, const std::string& identity)
{
    const auto found = m_sources.find(identity);
    if (found == m_sources.end() || !prunedUnjudged(found->second) || m_tree.at(found->second).parent != parent) {
        return std::nullopt;
    }
    const NodeId node = found->second;
    if (!m_tree.at(node).pruned) {
        const NodeId above = prunedAbove(node);
        return fail(
            ErrorCode::InvalidInput,
            fmt::format(
                "The session has this kernel already: it is node {} (\"{}\"), and node {} above it is pruned: put "
                "that back (steer restore --node {}).",
                node.value, m_book.find(node)->title, above.value, above.value));
    }
    ESPALIER_CHECK(setPruned(node, false));
    return node;
}

Result<NodeId> Planner::inject(std::optional<NodeId> parent, const std::string& title, const std::string& source)
{
    if (trimmed(source).empty()) {
        return fail(ErrorCode::InvalidInput, "The kernel to inject is empty: give a whole .cu source.");
    }
    if (source.size() > longestSource) {
        return fail(ErrorCode::InvalidInput, "The kernel to inject is longer than 1 MiB: shorten it.");
    }
    if (parent && !m_tree.find(*parent)) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", parent->value));
    }
    const std::string identity = sourceIdentity(source);
    if (const auto twin = twinOf(identity)) {
        const std::string remedy =
            m_book.pruned(*twin) ? fmt::format(", which is out of the search: put it back (steer restore --node {})",
                                               prunedAbove(*twin).value)
                                 : "";
        return fail(ErrorCode::InvalidInput,
                    fmt::format("The session has this kernel already: it is node {} (\"{}\"){}.", twin->value,
                                m_book.find(*twin)->title, remedy));
    }
    ESPALIER_TRY(const auto back, putBack(parent, identity));
    if (back) {
        return *back;
    }
    StoredNode node;
    node.id = m_book.nextId();
    node.kind = parent ? NodeKind::Candidate : NodeKind::Root;
    node.state = NodeState::Queued;
    if (parent) {
        node.parents = {{*parent, EdgeRole::Primary}};
        node.ordinal = m_book.childrenOf(*parent);
    }
    node.title = trimmed(title).empty() ? "Own kernel" : title;
    node.proposer = "engineer";
    node.source = source;
    node.payload = NodePayload{.why = "the engineer's own kernel"}.text();
    node.createdAt = timestamp();
    ESPALIER_CHECK(m_acts.perform({{"act", "inject"}, {"node", node.id.value}}, grown(node.id),
                                  {[&] { return m_journal.addNode(node); }, [&] { placeCandidate(node); }}));
    m_whys[node.id] = NodePayload::parse(node.payload).why;
    admit(node, nullptr);
    return node.id;
}

} // namespace espalier
