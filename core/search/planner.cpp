// SPDX-License-Identifier: Apache-2.0
#include "core/search/planner.h"

#include "core/propose/source_text.h"
#include "core/propose/tunables.h"
#include "core/search/node_payload.h"
#include "core/search/own_prompt.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <utility>

namespace espalier {
namespace {

constexpr std::size_t textsAtOnce = 16; ///< some milliseconds

} // namespace

Planner::Planner(Setup setup, const Strategy& strategy, std::vector<std::unique_ptr<Proposer>>& proposers,
                 SessionJournal& journal, ActHistory& acts, NodeBook& book, CandidatePipeline& pipeline)
    : m_setup(std::move(setup)), m_strategy(&strategy), m_proposers(proposers), m_journal(journal), m_acts(acts),
      m_book(book), m_pipeline(pipeline), m_heldTask(m_setup.task), m_nextRequest(m_setup.firstRequest)
{
}

Planner::State Planner::pump(std::int64_t room, std::optional<int>& steps)
{
    const State state = decide(room, steps);
    showBranchBudgets();
    return state;
}

Planner::State Planner::decide(std::int64_t room, std::optional<int>& steps)
{
    requestUnanswered();
    while (!m_trouble) {
        if (m_asking) {
            return State::Working;
        }
        if ((!m_heldIdeas.empty() || !m_askAgain.empty() || !m_postponed.empty()) && !held()) {
            goOn(); // its hold has ended by itself
            requestUnanswered();
            if (m_asking) {
                return State::Working;
            }
        }
        applyHolds();
        if (!m_ideaRequests.empty()) {
            const IdeaRequest request = m_ideaRequests.front();
            if (!held()) {
                askIdeas(request.parent, &request, "the engineer asked");
                continue;
            }
        }
        if (const auto cutOff = std::exchange(m_cutOffAsk, std::nullopt); cutOff && m_tree.isParent(*cutOff)) {
            askIdeas(*cutOff, nullptr, whyAsked(*cutOff));
            continue;
        }
        if (room - unfinished() <= 0 || steps == 0) {
            return State::Limited;
        }
        if (static_cast<int>(m_inFlight.size()) >= m_setup.window) {
            if (consumeHead()) {
                continue;
            }
            // Pruned nodes may just have left the window.
            if (static_cast<int>(m_inFlight.size()) >= m_setup.window) {
                return State::Working;
            }
        }
        if (const auto failed = nextRepair()) {
            if (implement(*m_tree.at(*failed).parent, failed, "it repairs what failed") && steps) {
                --*steps;
            }
            continue;
        }
        if (const auto crossed = crossedByHand()) {
            if (implement(*crossed, std::nullopt, "the engineer crossed two kernels") && steps) {
                --*steps;
            }
            continue;
        }
        const Decision decision = m_strategy->next(m_tree);
        if (const auto* ask = std::get_if<decision::AskIdeas>(&decision)) {
            askIdeas(ask->parent, nullptr, ask->why);
        } else if (const auto* expand = std::get_if<decision::Implement>(&decision)) {
            if (implement(expand->idea, std::nullopt, expand->why) && steps) {
                --*steps;
            }
        } else if (const auto* crossing = std::get_if<decision::Crossover>(&decision)) {
            crossOver(*crossing);
        } else if (!consumeHead()) {
            return m_inFlight.empty() ? State::Exhausted : State::Working;
        }
    }
    return State::Working;
}

/// Candidates that were requested and have no outcome yet.
std::int64_t Planner::unfinished() const
{
    return std::count_if(m_inFlight.begin(), m_inFlight.end(),
                         [this](NodeId id) { return id != taskRoot && !m_arrived.contains(id) && !m_book.pruned(id); });
}

bool Planner::consumeHead()
{
    while (!m_inFlight.empty()) {
        const NodeId head = m_inFlight.front();
        const auto arrived = m_arrived.find(head);
        if (arrived == m_arrived.end()) {
            const NodeSummary* summary = m_book.find(head);
            if (!m_book.pruned(head) || (summary && summary->state == NodeState::Running)) {
                return false;
            }
            m_parked.insert(head);
            m_inFlight.pop_front();
            continue;
        }
        const std::int64_t consumed = std::max(m_consumed, head.value);
        if (const auto result = m_journal.setValue("search.consumed", std::to_string(consumed)); !result) {
            trouble(result.error());
            return false;
        }
        m_consumed = consumed;
        m_tree.find(head)->verdict = arrived->second;
        m_arrived.erase(arrived);
        m_inFlight.pop_front();
        m_whys.erase(head);
        settleSpending(head);
        return true;
    }
    return false;
}

void Planner::onEnded(NodeId node, const Evaluation& evaluation)
{
    m_arrived.insert_or_assign(node, verdictOf(evaluation, m_tree.frame().provenance));
}

void Planner::onMeasuredAgain(NodeId node, const Evaluation& evaluation)
{
    TreeNode* entry = m_tree.find(node);
    if (entry && entry->verdict) {
        const double before = entry->verdict->deviceSeconds;
        entry->verdict = verdictOf(evaluation, m_tree.frame().provenance);
        entry->verdict->deviceSeconds += before; // it was on the device once more
        if (const auto& overturned = m_book.find(node)->overturned) {
            entry->verdict->outcome = overturned->as;
        }
        settleSpending(node);
    } else if (m_arrived.contains(node)) {
        onEnded(node, evaluation);
    }
}

std::optional<Error> Planner::takeTrouble()
{
    return std::exchange(m_trouble, std::nullopt);
}

// --- ideas -------------------------------------------------------------------------------------------------------

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
    m_asking = Asking{parent, {}, byHand != nullptr, why};
    for (const auto& proposer : m_proposers) {
        if (byHand && !proposer->readsBackground()) {
            continue; // the engineer asks models, not the playbook
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
    bool postponed = false;
    for (const AskedProposer& one : asked.answers) {
        postponed = postponed || one.answer->postponed;
        noteDropped(asked.parent, *one.proposer, one.answer->dropped);
        if (!addIdeas(m_tree.at(asked.parent), *one.proposer, one.answer->ideas, asked.why)) {
            return; // asked again when the run goes on; the ideas that are there stay
        }
    }
    if (asked.byHand) {
        if (!postponed) {
            m_ideaRequests.pop_front();
            if (const auto result = keepIdeaRequests(); !result) {
                trouble(result.error());
            }
        }
        return;
    }
    if (postponed) {
        m_askAgain.insert(asked.parent);
        m_tree.find(asked.parent)->asked = true; // until the proposer can be asked
        return;
    }
    // A model's answer must not be paid for twice; and asking a playbook again brings nothing, but costs a large session
    // seconds when every parent of it is asked.
    const std::string key = fmt::format("search.asked.{}", asked.parent.value);
    if (const auto result = m_journal.setValue(key, "1"); !result) {
        return trouble(result.error());
    }
    m_tree.find(asked.parent)->asked = true;
}

bool Planner::addIdeas(const TreeNode& parent, const Proposer& proposer, const std::vector<ProposedIdea>& ideas,
                       const std::string& why)
{
    for (const ProposedIdea& idea : ideas) {
        const bool known = std::any_of(parent.children.begin(), parent.children.end(), [&](NodeId child) {
            const TreeNode& node = m_tree.at(child);
            return node.kind == NodeKind::Idea && node.proposer == proposer.name() && node.key == idea.key;
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
    node.payload = NodePayload{idea.key, idea.implementations, idea.payload, 0, 0, false, why, std::nullopt}.text();
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
    entry.proposer = writerOf(node);
    entry.byEngineer = node.proposer == "engineer";
    entry.key = payload.key;
    entry.planned = payload.planned;
    entry.byHand = payload.byHand;
    const Proposer* proposer = proposerNamed(entry.proposer);
    entry.exhausted = node.kind == NodeKind::Idea && !proposer;
    if (entry.exhausted && entry.byEngineer) {
        m_unwritten.push_back(node.id);
    }
    entry.oneByOne = node.kind == NodeKind::Idea && proposer && proposer->readsBackground();
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
            ++m_tree.find(*entry.parent)->repairs;
        }
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

// --- kernels -----------------------------------------------------------------------------------------------------

/// False when no candidate came of it.
bool Planner::implement(NodeId idea, std::optional<NodeId> failed, const std::string& why)
{
    const auto context = implementContext(idea, m_book.nextId(), failed);
    if (!context) {
        trouble(context.error());
        return false;
    }
    const TreeNode& ideaNode = m_tree.at(idea);
    Proposer* proposer = proposerNamed(ideaNode.proposer);
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
    node.payload = NodePayload{"", 1, answer.payload, answer.tokens, answer.usd, false, why, std::nullopt}.text();
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
    const auto [entry, added] = m_sources.try_emplace(identity, before);
    if (added || entry->second >= before) {
        entry->second = std::min(entry->second, before);
        return std::nullopt;
    }
    return entry->second;
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
    if (m_unindexed.empty() || !backgroundWanted()) {
        return false;
    }
    indexTexts(textsAtOnce);
    return !m_unindexed.empty();
}

/// The alarm for a solution that came from elsewhere in the session. Not for the built-in proposers: their texts are known.
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

// --- contexts ----------------------------------------------------------------------------------------------------

/// Who writes the kernels of an idea: who had it; of the engineer's the first proposer that writes what it is told.
std::string Planner::writerOf(const StoredNode& node) const
{
    if (node.kind == NodeKind::Idea && node.proposer == "engineer") {
        for (const auto& proposer : m_proposers) {
            if (proposer->readsBackground()) {
                return std::string(proposer->name());
            }
        }
    }
    return node.proposer;
}

Proposer* Planner::proposerNamed(const std::string& name) const
{
    for (const auto& proposer : m_proposers) {
        if (proposer->name() == name) {
            return proposer.get();
        }
    }
    return nullptr;
}

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
    if (backgroundWanted()) {
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
    context.payload = payload.own;
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
        if (other.kind == NodeKind::Candidate && !other.mends && child < first) {
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
    if (backgroundWanted()) {
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
