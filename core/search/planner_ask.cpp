// SPDX-License-Identifier: Apache-2.0
// What the engineer tells and asks the models: hints, attached texts, questions asked again.
#include "core/search/planner.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/search/node_payload.h"
#include "core/search/own_prompt.h"
#include "core/search/standing.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::size_t longestPrompt = std::size_t{1} << 20;
constexpr std::size_t longestHint = std::size_t{4} << 10;
constexpr std::size_t longestAttachment = std::size_t{256} << 10;
constexpr const char* requestsKey = "search.idea_requests";

std::string textOf(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The array under a key; an empty one when it is missing or broken.
Result<Json> storedArray(Store& store, const char* key)
{
    ESPALIER_TRY(const auto text, store.value(key));
    if (!text) {
        return Json::array();
    }
    auto json = parseJson(*text, key);
    return json && json->is_array() ? std::move(*json) : Json::array();
}

std::string fieldOf(const Json& object, const char* name)
{
    return object.is_object() && object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                                                   : std::string();
}

std::int64_t numberOf(const Json& object, const char* name)
{
    const bool there = object.is_object() && object.contains(name) && object[name].is_number_integer();
    return there ? object[name].get<std::int64_t>() : 0;
}

} // namespace

std::string ownPromptPayload(const std::string& prompt)
{
    return textOf(Json{{"prompt", prompt}});
}

std::string ownPromptIn(const std::string& payload)
{
    const auto json = parseJson(payload, "payload");
    return json ? fieldOf(*json, "prompt") : std::string();
}

Result<void> Planner::ask(NodeId id, const std::string& prompt, bool ideas)
{
    const TreeNode* node = m_tree.find(id);
    if (!node) {
        return fail(ErrorCode::NotFound, fmt::format("The session has no node {}.", id.value));
    }
    if (prompt.size() > longestPrompt) {
        return fail(ErrorCode::InvalidInput, "The prompt is longer than 1 MiB: shorten it.");
    }
    if (const auto spent = m_tree.spentBranch(id)) {
        return fail(
            ErrorCode::InvalidInput,
            fmt::format("The branch of node {} has used up its budget: raise it to ask for more.", spent->value));
    }
    if (!m_proposers.writer()) {
        return fail(ErrorCode::InvalidInput,
                    "No model takes part in this session: let one join (steer proposers add, with --provider and "
                    "--model or --command).");
    }
    const TreeNode* idea = node->kind == NodeKind::Candidate && node->parent ? &m_tree.at(*node->parent) : nullptr;
    const Proposer* writer = idea && idea->kind == NodeKind::Idea ? m_proposers.named(idea->proposer) : nullptr;
    if (!ideas && writer && writer->readsBackground()) {
        StoredNode again;
        again.id = m_book.nextId();
        again.kind = NodeKind::Candidate;
        again.state = NodeState::Queued;
        again.parents = {{idea->id, EdgeRole::Primary}};
        again.ordinal = m_book.childrenOf(idea->id);
        again.title = idea->title;
        again.proposer = idea->proposer;
        again.payload =
            NodePayload{.own = prompt.empty() ? "" : ownPromptPayload(prompt), .why = "the engineer asked"}.text();
        again.createdAt = timestamp();
        ESPALIER_CHECK(m_acts.perform({{"act", "ask"}, {"node", id.value}, {"new", again.id.value}},
                                      {[&] { return m_journal.addNode(again); }, [&] { placeCandidate(again); }}));
        m_whys[again.id] = NodePayload::parse(again.payload).why;
        m_unanswered.push_back(again.id);
        return {};
    }
    const NodeId parent = node->kind == NodeKind::Idea ? *node->parent : id;
    IdeaRequest request{parent, prompt, 1};
    ESPALIER_TRY(const std::vector<Exchange> before, m_journal.store().exchangesOf(parent));
    request.round += static_cast<int>(std::count_if(
        before.begin(), before.end(), [](const Exchange& exchange) { return exchange.purpose == "idea"; }));
    request.round += static_cast<int>(std::count_if(m_ideaRequests.begin(), m_ideaRequests.end(),
                                                    [parent](const IdeaRequest& r) { return r.parent == parent; }));
    m_ideaRequests.push_back(std::move(request));
    auto kept =
        m_acts.perform({{"act", "ask-ideas"}, {"node", parent.value}}, {[this] { return keepIdeaRequests(); }, {}});
    if (!kept) {
        m_ideaRequests.pop_back();
    }
    return kept;
}

Result<void> Planner::keepIdeaRequests()
{
    Json list = Json::array();
    for (const IdeaRequest& request : m_ideaRequests) {
        list.push_back({{"parent", request.parent.value}, {"prompt", request.prompt}, {"round", request.round}});
    }
    return m_journal.setValue(requestsKey, textOf(list));
}

Result<void> Planner::addHint(const std::string& text)
{
    if (trimmed(text).empty() || text.size() > longestHint) {
        return fail(ErrorCode::InvalidInput, "A hint is a text of at most 4 KiB: say what the models should heed.");
    }
    const Json before = m_hints;
    std::vector<std::string> hints = m_hints;
    hints.emplace_back(trimmed(text));
    const std::string added = hints.back();
    return m_acts.perform({{"act", "hint"}, {"text", added}}, {.field = "hints", .value = before},
                          hintsChange(std::move(hints)));
}

Result<void> Planner::removeHint(int number)
{
    if (number < 1 || number > static_cast<int>(m_hints.size())) {
        return fail(ErrorCode::NotFound, fmt::format("There is no hint {}: {}.", number, numberedChoices(m_hints)));
    }
    const Json before = m_hints;
    std::vector<std::string> hints = m_hints;
    hints.erase(hints.begin() + number - 1);
    return m_acts.perform({{"act", "unhint"}, {"number", number}}, {.field = "hints", .value = before},
                          hintsChange(std::move(hints)));
}

Change Planner::hintsChange(std::vector<std::string> hints)
{
    return {[this, hints] { return m_journal.setValue(hintsKey, textOf(Json(hints))); },
            [this, hints] { m_hints = hints; }};
}

Result<void> Planner::attach(const Attachment& attachment)
{
    if (trimmed(attachment.name).empty() || attachment.name.size() > 200) {
        return fail(ErrorCode::InvalidInput, "An attached text needs a name of at most 200 bytes.");
    }
    if (attachment.text.size() > longestAttachment) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} is longer than 256 KiB: attach the part that matters.", attachment.name));
    }
    const auto before = std::find_if(m_attachments.begin(), m_attachments.end(),
                                     [&](const Attachment& one) { return one.name == attachment.name; });
    if (attachment.text.empty() && before == m_attachments.end()) {
        return fail(ErrorCode::NotFound,
                    fmt::format("No attached text is named \"{}\": {}.", attachment.name, namedChoices(m_attachments)));
    }
    const Json was = {{"name", attachment.name},
                      {"text", before == m_attachments.end() ? std::string() : before->text}};
    return m_acts.perform({{"act", attachment.text.empty() ? "detach" : "attach"}, {"name", attachment.name}},
                          {.field = "attachment", .value = was}, attachmentChange(attachment));
}

/// An empty text takes it away.
Change Planner::attachmentChange(const Attachment& attachment)
{
    std::vector<Attachment> attachments = m_attachments;
    const auto at = std::find_if(attachments.begin(), attachments.end(),
                                 [&](const Attachment& one) { return one.name == attachment.name; });
    if (at == attachments.end()) {
        attachments.push_back(attachment);
    } else {
        at->text = attachment.text;
    }
    std::erase_if(attachments, [](const Attachment& one) { return one.text.empty(); });
    return {[this, attachments] {
                Json list = Json::array();
                for (const Attachment& one : attachments) {
                    list.push_back({{"name", one.name}, {"text", one.text}});
                }
                return m_journal.setValue(attachmentsKey, textOf(list));
            },
            [this, attachments] { m_attachments = attachments; }};
}

Result<void> Planner::restoreAsks()
{
    Store& store = m_journal.store();
    ESPALIER_TRY(const Json requests, storedArray(store, requestsKey));
    for (const Json& one : requests) {
        const NodeId parent{numberOf(one, "parent")};
        if (m_tree.find(parent)) {
            m_ideaRequests.push_back(
                {parent, fieldOf(one, "prompt"), static_cast<int>(std::max<std::int64_t>(1, numberOf(one, "round")))});
        }
    }
    ESPALIER_TRY(m_hints, hintsIn(store));
    ESPALIER_TRY(m_attachments, attachmentsIn(store));
    return {};
}

/// For the journal: what a model offered that did not enter the tree.
void Planner::noteDropped(NodeId parent, const Proposer& proposer, const std::vector<proposer::DroppedIdea>& dropped)
{
    for (const proposer::DroppedIdea& idea : dropped) {
        const Json act = {{"act", "drop-idea"},
                          {"node", parent.value},
                          {"title", idea.title},
                          {"text", idea.text},
                          {"reason", idea.reason}};
        if (const auto result = m_journal.addAct(std::string(proposer.name()), textOf(act)); !result) {
            return trouble(result.error());
        }
    }
}

} // namespace espalier
