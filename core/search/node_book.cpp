// SPDX-License-Identifier: Apache-2.0
#include "core/search/node_book.h"

#include "core/analysis/fresh_runs.h"
#include "core/analysis/library_ratio.h"
#include "core/search/bans.h"
#include "core/search/record_merge.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

namespace espalier {

namespace {

/// Modelled figures are exact: any difference is one.
double bandOf(Provenance provenance)
{
    return provenance == Provenance::Measured ? statistics::leastDifference : 0;
}

} // namespace

void NodeBook::setFrame(SearchFrame frame)
{
    m_frame = std::move(frame);
    m_lead = {};
}

void NodeBook::add(const StoredNode& node)
{
    NodeSummary summary;
    summary.id = node.id;
    summary.kind = node.kind;
    summary.parents = node.parents;
    summary.ordinal = node.ordinal;
    summary.proposer = node.proposer;
    m_nodes.emplace_hint(m_nodes.end(), node.id, std::move(summary));
    if (!node.parents.empty()) {
        ++m_entries[node.parents.front().parent].children;
    }
    update(node);
}

void NodeBook::update(const StoredNode& node)
{
    NodeSummary& summary = m_nodes.at(node.id);
    summary.state = node.state;
    summary.title = node.title;
    summary.pinned = node.pinned;
    if (summary.pruned != node.pruned) {
        summary.pruned = node.pruned;
        ranksAnew(node.id);
    }
    summary.boost = node.boost;
    changed(node.id);
}

void NodeBook::setState(NodeId id, NodeState state)
{
    m_nodes.at(id).state = state;
    changed(id);
}

void NodeBook::stageBegan(NodeId id, Stage stage)
{
    NodeSummary& summary = m_nodes.at(id);
    summary.state = NodeState::Running;
    summary.runningStage = stage;
    changed(id);
}

void NodeBook::returnedToQueue(NodeId id)
{
    NodeSummary& summary = m_nodes.at(id);
    summary.state = NodeState::Queued;
    summary.runningStage.reset();
    changed(id);
}

void NodeBook::finished(NodeId id, const Evaluation& evaluation)
{
    NodeSummary& summary = m_nodes.at(id);
    summary.state = NodeState::Done;
    summary.runningStage.reset();
    summary.outcome = evaluation.outcome;
    summary.cause = evaluation.cause;
    summary.reason = evaluation.reason;
    if (summary.overturned) {
        summary.overturned->judged = evaluation.outcome;
        summary.outcome = summary.overturned->as;
    }
    summary.provenance.reset();
    summary.timeUs.reset();
    summary.speedupRoot.reset();
    summary.speedupParent.reset();
    summary.speedupIncumbent.reset();
    summary.speedupLibrary.reset();
    summary.library.clear();
    summary.registers = 0;
    summary.epoch = evaluation.epoch;
    summary.tieWithParent = false;
    summary.olderEdition = false;
    summary.timedElsewhere = false;
    summary.measuredAgain = evaluation.timing && evaluation.timing->again;
    summary.guardBroken = evaluation.timing && !evaluation.timing->guardBroken.empty();
    if (evaluation.timing && !evaluation.timing->cases.empty()) {
        summary.provenance = evaluation.timing->cases.front().provenance;
        summary.timeUs = evaluation.timing->objectiveUs;
        summary.speedupRoot = evaluation.timing->speedupRoot;
        summary.speedupParent = evaluation.timing->speedupParent;
        summary.speedupIncumbent = evaluation.timing->speedupIncumbent;
        if (auto library = overBestLibrary(*evaluation.timing)) {
            summary.speedupLibrary = library->speedup;
            summary.library = std::move(library->name);
        }
        if (!summary.speedupParent && parentCandidate(id) == taskRoot) { // the root is timed once, as the root
            summary.speedupParent = summary.speedupRoot;
        }
        summary.tieWithParent =
            summary.speedupParent &&
            statistics::compare(*summary.speedupParent, bandOf(*summary.provenance)) == statistics::Comparison::Tie;
    }
    if (evaluation.timing && (evaluation.timing->tier == "full" || summary.measuredAgain)) {
        m_inFull.insert(id);
    } else {
        m_inFull.erase(id);
    }
    if (evaluation.build) {
        m_entries[id].kernels = heldBy(*evaluation.build);
        for (const KernelResources& kernel : evaluation.build->kernels) {
            summary.registers = std::max(summary.registers, kernel.registers);
        }
    }
    holdToBans(id);
    ranksAnew(id);
    changed(id);
}

void NodeBook::setBans(std::vector<Limit> limits)
{
    m_bans = std::move(limits);
    for (const auto& [id, node] : m_nodes) {
        holdToBans(id);
    }
}

void NodeBook::holdToBans(NodeId id)
{
    NodeSummary& summary = m_nodes.at(id);
    std::string broken = id == taskRoot ? std::string() : brokenBan(m_bans, m_entries[id].kernels).value_or("");
    if (summary.banned != broken) {
        summary.banned = std::move(broken);
        ranksAnew(id);
        changed(id);
    }
}

void NodeBook::setOlderEdition(NodeId id)
{
    if (const auto found = m_nodes.find(id); found != m_nodes.end() && found->second.state == NodeState::Done) {
        found->second.olderEdition = true;
        changed(id);
    }
}

void NodeBook::setTimedElsewhere(NodeId id, bool elsewhere)
{
    if (const auto found = m_nodes.find(id);
        found != m_nodes.end() && found->second.timeUs && found->second.timedElsewhere != elsewhere) {
        found->second.timedElsewhere = elsewhere;
        changed(id);
    }
}

void NodeBook::setSpending(NodeId id, std::int64_t tokens, std::optional<double> usd)
{
    NodeSummary& summary = m_nodes.at(id);
    summary.tokens = tokens;
    summary.usd = usd;
    changed(id);
}

void NodeBook::setBranchBudget(NodeId id, const BranchBudget& budget, const BranchSpending& spent)
{
    NodeSummary& summary = m_nodes.at(id);
    if (summary.budget != budget || summary.branchSpent != spent) {
        summary.budget = budget;
        summary.branchSpent = spent;
        changed(id);
    }
}

void NodeBook::overturn(NodeId id, std::optional<Overturn> overturn)
{
    NodeSummary& summary = m_nodes.at(id);
    const Outcome judged = summary.overturned ? summary.overturned->judged : summary.outcome;
    summary.outcome = overturn ? overturn->as : judged;
    if (overturn) {
        overturn->judged = judged;
    }
    summary.cause = NotRunCause::None;
    summary.overturned = std::move(overturn);
    ranksAnew(id);
    changed(id);
}

const NodeSummary* NodeBook::find(NodeId id) const
{
    const auto found = m_nodes.find(id);
    return found == m_nodes.end() ? nullptr : &found->second;
}

NodeId NodeBook::nextId() const
{
    return NodeId{m_nodes.empty() ? 1 : m_nodes.rbegin()->first.value + 1};
}

int NodeBook::childrenOf(NodeId id) const
{
    const auto found = m_entries.find(id);
    return found == m_entries.end() ? 0 : found->second.children;
}

void NodeBook::changed(NodeId id)
{
    m_changed.insert(m_changed.end(), id);
    count(m_nodes.at(id));
}

/// Its figures or its right to rank have changed: the walk is taken again from it on. Nodes below it, which a prune
/// takes out as well, have larger ids.
void NodeBook::ranksAnew(NodeId id)
{
    for (Lead& lead : m_lead) {
        std::erase_if(lead.leaders, [id](NodeId leader) { return leader >= id; });
        lead.seen = std::min(lead.seen, NodeId{id.value - 1});
    }
}

/// Moves the node from the tally it was in to the one it belongs to now.
void NodeBook::count(const NodeSummary& node)
{
    std::int64_t EvaluationCounts::* tally = nullptr;
    if (node.kind != NodeKind::Idea && node.state == NodeState::Done && node.id != taskRoot &&
        countsAsEvaluation(node.cause)) {
        switch (node.outcome) {
        case Outcome::Passed:
            tally = &EvaluationCounts::passed;
            break;
        case Outcome::BuildFailed:
            tally = &EvaluationCounts::failed;
            break;
        case Outcome::NotRun:
            tally = &EvaluationCounts::notRun;
            break;
        case Outcome::Incorrect:
        case Outcome::Suspicious:
        case Outcome::RuntimeFailed:
        case Outcome::TimedOut:
            tally = &EvaluationCounts::rejected;
            break;
        }
    }
    std::int64_t EvaluationCounts::*& before = m_entries[node.id].counted;
    if (before) {
        --(m_counts.*before);
        --m_counts.evaluations;
    }
    if (tally) {
        ++(m_counts.*tally);
        ++m_counts.evaluations;
    }
    before = tally;
}

std::int64_t NodeBook::evaluatedAfter(NodeId id, std::int64_t most) const
{
    std::int64_t count = 0;
    for (auto entry = m_entries.rbegin(); entry != m_entries.rend() && entry->first > id && count < most; ++entry) {
        count += entry->second.counted ? 1 : 0;
    }
    return count;
}

std::optional<NodeId> NodeBook::parentCandidate(NodeId id) const
{
    const NodeSummary* node = find(id);
    while (node && !node->parents.empty()) {
        node = find(node->parents.front().parent);
        if (node && node->kind != NodeKind::Idea) {
            return node->id;
        }
    }
    return std::nullopt;
}

bool NodeBook::pruned(NodeId id) const
{
    for (const NodeSummary* node = find(id); node;
         node = node->parents.empty() ? nullptr : find(node->parents.front().parent)) {
        if (node->pruned) {
            return true;
        }
    }
    return false;
}

Result<void> NodeBook::checkUnprotected(NodeId id) const
{
    for (auto entry = m_nodes.lower_bound(id); entry != m_nodes.end(); ++entry) { // what is below it has larger ids
        const NodeSummary* node = entry->second.pinned ? &entry->second : nullptr;
        while (node && node->id != id) {
            node = node->parents.empty() ? nullptr : find(node->parents.front().parent);
        }
        if (node) {
            return fail(ErrorCode::InvalidInput, fmt::format("Node {}{} is pinned, and so protected: unpin it first.",
                                                             entry->first.value, entry->first == id ? "" : " below"));
        }
    }
    return {};
}

std::optional<double> NodeBook::scoreOf(const NodeSummary& node) const
{
    // Not asked whether it is done: a winner that is measured again keeps its figures meanwhile.
    if (node.outcome != Outcome::Passed || node.provenance != m_frame.provenance || node.epoch != m_frame.epoch) {
        return std::nullopt;
    }
    if (node.id == taskRoot) {
        return 1.0;
    }
    if (node.speedupRoot) {
        return node.speedupRoot->value;
    }
    const NodeSummary* root = find(taskRoot);
    if (node.timeUs && node.timeUs->value > 0 && root && root->timeUs && scoreOf(*root)) {
        return root->timeUs->value / node.timeUs->value;
    }
    return std::nullopt;
}

/// The speed-up over the root, with its interval; {0, 0, 0} where there is none.
Interval NodeBook::overRoot(const NodeSummary& node) const
{
    if (node.id == taskRoot) {
        return {1, 1, 1};
    }
    if (node.speedupRoot) {
        return *node.speedupRoot;
    }
    const NodeSummary* root = find(taskRoot);
    return node.timeUs && root && root->timeUs ? statistics::quotient(*root->timeUs, *node.timeUs) : Interval{};
}

bool NodeBook::beats(const NodeSummary& challenger, const NodeSummary& best) const
{
    const double band = bandOf(m_frame.provenance);
    if (band == 0) {
        return scoreOf(challenger) > scoreOf(best);
    }
    // Paired by block where the two were timed together; else through the root, with both errors.
    const bool together = challenger.speedupParent && parentCandidate(challenger.id) == best.id;
    const Interval over =
        together ? *challenger.speedupParent : statistics::quotient(overRoot(challenger), overRoot(best));
    const bool slowerThanParent = challenger.speedupParent && statistics::compare(*challenger.speedupParent, band) ==
                                                                  statistics::Comparison::Slower;
    return statistics::compare(over, band) == statistics::Comparison::Faster && !slowerThanParent;
}

/// Goes on with a walk to the newest node.
void NodeBook::follow(Lead& lead, const std::function<bool(const NodeSummary&)>& among) const
{
    const NodeSummary* best = lead.leaders.empty() ? nullptr : find(lead.leaders.back());
    for (auto entry = m_nodes.upper_bound(lead.seen); entry != m_nodes.end(); ++entry) {
        const NodeSummary& node = entry->second;
        lead.seen = node.id;
        const bool eligible = scoreOf(node) && !node.guardBroken && node.banned.empty() && among(node);
        if (eligible && (!best || beats(node, *best)) && !pruned(node.id)) {
            best = &node;
            lead.leaders.push_back(node.id);
        }
    }
}

std::optional<NodeId> NodeBook::best(bool inFull) const
{
    Lead& lead = m_lead[inFull ? 1 : 0];
    follow(lead, [this, inFull](const NodeSummary& node) {
        return !inFull || m_inFull.contains(node.id) || node.id == taskRoot;
    });
    return lead.leaders.empty() ? std::nullopt : std::optional(lead.leaders.back());
}

std::vector<NodeId> NodeBook::leaders() const
{
    (void)best();
    return m_lead[0].leaders;
}

std::optional<NodeId> NodeBook::headline() const
{
    const bool noise = bandOf(m_frame.provenance) > 0;
    return best(noise && std::any_of(m_inFull.begin(), m_inFull.end(), [this](NodeId id) {
                    return id != taskRoot && scoreOf(m_nodes.at(id)) && m_nodes.at(id).banned.empty();
                }));
}

std::optional<NodeId> NodeBook::headline(const std::function<bool(const NodeSummary&)>& among) const
{
    const auto eligible = [&among](const NodeSummary& node) { return node.id != taskRoot && among(node); };
    if (const auto whole = headline(); whole && eligible(m_nodes.at(*whole))) {
        return whole; // a walk over some of them may end with another one of its equals
    }
    Lead full, any;
    if (bandOf(m_frame.provenance) > 0) {
        follow(full, [&](const NodeSummary& node) { return m_inFull.contains(node.id) && eligible(node); });
    }
    follow(any, eligible);
    const std::vector<NodeId>& leaders = full.leaders.empty() ? any.leaders : full.leaders;
    return leaders.empty() ? std::nullopt : std::optional(leaders.back());
}

std::vector<NodeId> NodeBook::winners(std::size_t most) const
{
    std::vector<std::pair<double, NodeId>> scored;
    for (const auto& [id, node] : m_nodes) {
        const auto score = scoreOf(node);
        if (score && *score > 1 && id != taskRoot &&
            (!node.measuredAgain || node.olderEdition || node.timedElsewhere) && !node.guardBroken &&
            node.banned.empty() && !pruned(id)) {
            scored.emplace_back(*score, id);
        }
    }
    std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const auto first = best();
    std::vector<NodeId> winners;
    for (const auto& [score, id] : scored) {
        winners.insert(id == first ? winners.begin() : winners.end(), id); // the older of a tie may be it
    }
    winners.resize(std::min(winners.size(), most));
    return winners;
}

std::vector<NodeSummary> NodeBook::takeChanged()
{
    std::vector<NodeSummary> changed;
    for (const NodeId id : m_changed) {
        changed.push_back(m_nodes.at(id));
    }
    m_changed.clear();
    return changed;
}

} // namespace espalier
