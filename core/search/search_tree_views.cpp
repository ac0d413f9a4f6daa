// SPDX-License-Identifier: Apache-2.0
// The sorted views of a search tree: what a changed node means for them.
#include "core/search/search_tree.h"

#include "core/search/branch_limits.h"
#include "core/search/draw.h"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

/// Takes an element out of a sorted set or puts it elsewhere.
void moveRanked(std::set<Ranked>& set, NodeId id, std::optional<double>& now, std::optional<double> wanted)
{
    if (now == wanted) {
        return;
    }
    if (now) {
        set.erase({*now, id});
    }
    if (wanted) {
        set.insert({*wanted, id});
    }
    now = wanted;
}

void keepIn(std::set<NodeId>& set, NodeId id, bool& now, bool wanted)
{
    if (now == wanted) {
        return;
    }
    if (wanted) {
        set.insert(id);
    } else {
        set.erase(id);
    }
    now = wanted;
}

// Learned promise. A parent's children gain what its other children gained, its own gain over its parent, and, while
// nothing is known, a little; the priors count like so many tries.
constexpr double priorGain = 0.05, priorTries = 1, lineageTries = 1;

} // namespace

void SearchTree::touchAll() const
{
    for (const auto& [id, node] : m_nodes) {
        m_dirty.insert(m_dirty.end(), id);
    }
}

/// Parents stand before their children in the order of the ids, so that what a node says of its children is settled
/// when they are looked at.
void SearchTree::refresh() const
{
    while (!m_dirty.empty()) {
        const NodeId id = *m_dirty.begin();
        m_dirty.erase(m_dirty.begin());
        look(id);
    }
}

void SearchTree::look(NodeId id) const
{
    const TreeNode& node = at(id);
    Place& mine = place(id);
    if (node.budget.none()) {
        m_budgeted.erase(id);
    } else if (!m_budgeted.contains(id)) {
        m_budgeted.emplace(id, seenBelow(id));
    }
    const bool gone = node.pruned || (node.parent && place(*node.parent).gone);
    const bool out = gone || closed(node) || (node.parent && place(*node.parent).out);
    if (out != mine.out || gone != mine.gone) {
        mine.out = out;
        mine.gone = gone;
        m_dirty.insert(node.children.begin(), node.children.end());
    }
    const auto counts = node.verdict ? std::optional(node.verdict->counts) : std::nullopt;
    const bool counted = countsInBranches(node.kind, counts, gone);
    if (counted != mine.counted) {
        mine.counted = counted;
        charge(node.parent, {.evaluations = counted ? 1 : -1});
    }
    if (node.kind == NodeKind::Idea) {
        lookAtIdea(node, mine);
    } else {
        lookAtCandidate(node, mine);
        if (node.parent && at(*node.parent).oneByOne) {
            m_dirty.insert(*node.parent); // it may have waited for this one
        }
    }
}

/// The next implementation is to learn from one that has no outcome yet.
bool SearchTree::awaitsChild(const TreeNode& idea) const
{
    return idea.oneByOne && std::any_of(idea.children.begin(), idea.children.end(), [this](NodeId id) {
               const TreeNode& child = at(id);
               return !child.verdict && !child.pruned;
           });
}

void SearchTree::lookAtIdea(const TreeNode& node, Place& mine) const
{
    const auto parent = parentCandidate(node.id);
    std::optional<double> weight;
    if (parent && !mine.out && !node.exhausted && !node.banned && node.tries() < node.planned && !awaitsChild(node)) {
        const TreeNode& above = at(*parent);
        if (above.verdict && above.verdict->outcome == Outcome::Passed && !above.banned) {
            const double found = score(*parent).value_or(1.0) * std::max(0.0, above.boost) * std::max(0.0, node.boost);
            weight = found > 0 ? std::optional(found) : std::nullopt;
        }
    }
    const bool series = node.planned > 1;
    if (mine.open && mine.openSeries != series) {
        moveRanked(m_open[mine.openSeries ? 1 : 0], node.id, mine.open, std::nullopt);
    }
    mine.openSeries = series;
    moveRanked(m_open[series ? 1 : 0], node.id, mine.open, weight);
    keepIn(m_pinnedIdeas, node.id, mine.pinnedIdea, weight && node.pinned);
    keepIn(m_boostedIdeas, node.id, mine.boostedIdea, weight && node.boost > 1);
    keepDrawn(node, mine);
    if (parent) {
        std::set<NodeId>& under = place(*parent).openIdeas;
        if (weight) {
            under.insert(node.id);
        } else {
            under.erase(node.id);
        }
        lookAtFrontier(*parent);
    }
}

void SearchTree::keepDrawn(const TreeNode& idea, Place& mine) const
{
    std::optional<Drawn> wanted;
    if (m_drawSeed && mine.open) {
        const auto tries = static_cast<std::uint64_t>(idea.tries());
        const double boost = idea.boost * at(*idea.parent).boost; // ideas stand under candidates
        wanted = Drawn{static_cast<double>(tries) / boost, boost, drawOf({*m_drawSeed, idea.draw, tries}), idea.id};
    }
    if (mine.drawn == wanted) {
        return;
    }
    if (mine.drawn) {
        m_drawn.erase(*mine.drawn);
    }
    if (wanted) {
        m_drawn.insert(*wanted);
    }
    mine.drawn = wanted;
}

/// Failures that a second try may mend. A suspicious candidate is not helped to look honest.
bool SearchTree::failed(const TreeNode& node)
{
    const Outcome outcome = node.verdict ? node.verdict->outcome : Outcome::NotRun;
    return outcome == Outcome::BuildFailed || outcome == Outcome::Incorrect || outcome == Outcome::RuntimeFailed ||
           outcome == Outcome::TimedOut;
}

void SearchTree::lookAtCandidate(const TreeNode& node, Place& mine) const
{
    const bool passed = node.verdict && node.verdict->outcome == Outcome::Passed && !node.banned && !mine.out;
    const std::optional<double> known = score(node.id);
    const double weight = known.value_or(1.0) * std::max(0.0, node.boost);
    const bool rescored = mine.score != (passed ? known : std::nullopt);
    moveRanked(m_scores, node.id, mine.score, passed ? known : std::nullopt);
    const std::optional<double> rank = passed && weight > 0 ? std::optional(weight) : std::nullopt;

    const bool reweighed = mine.ranked != rank;

    KernelTraits traits = node.traits;
    if (node.verdict && node.verdict->build) {
        traits.occupancy = node.verdict->build->occupancy;
        traits.tensorCores = node.verdict->build->tensorCores;
    }
    if (mine.cell >= 0 && (!rank || mine.cell != traits.cell() || reweighed)) {
        m_cells[mine.cell].erase({*mine.ranked, node.id});
        if (m_cells[mine.cell].empty()) {
            m_cells.erase(mine.cell);
        }
        mine.cell = -1;
    }
    moveRanked(m_ranked, node.id, mine.ranked, rank);
    if (rank && mine.cell < 0) {
        mine.cell = traits.cell();
        m_cells[mine.cell].insert({*rank, node.id});
    }
    keepIn(m_unasked, node.id, mine.unasked, passed && !node.asked);
    keepIn(m_pinned, node.id, mine.pinned, passed && node.pinned);
    const TreeNode* above = node.parent ? &at(*node.parent) : nullptr;
    keepIn(m_awaited, node.id, mine.awaited, !node.verdict && !mine.out);
    keepIn(m_discovery, node.id, mine.discovery,
           mine.awaited && (!above || above->kind != NodeKind::Idea || above->planned == 1));
    keepIn(m_oneByOne, node.id, mine.oneByOne, mine.awaited && above && above->oneByOne);
    keepIn(m_broken, node.id, mine.broken, node.mendable && !node.mended && !node.banned && !mine.out && failed(node));
    countGain(node, mine);
    // What stands below depends on this node's score and boost.
    if (rescored || reweighed) {
        for (const NodeId child : node.children) {
            const TreeNode& below = at(child);
            m_dirty.insert(child);
            if (rescored && below.kind == NodeKind::Idea) {
                m_dirty.insert(below.children.begin(), below.children.end());
            }
        }
    }
    if (node.id == m_nodes.begin()->first) {
        // Without a paired ratio every score is the root's time over the node's own.
        const auto time = node.verdict ? node.verdict->timeUs : std::nullopt;
        if (rescored || m_rootTime != time) {
            m_rootTime = time;
            touchAll();
            m_dirty.erase(node.id);
        }
    }
    lookAtFrontier(node.id);
}

void SearchTree::countGain(const TreeNode& node, Place& mine) const
{
    const auto parent = parentCandidate(node.id);
    if (!parent) {
        return;
    }
    Place& above = place(*parent);
    double gain = 0;
    if (mine.score && above.score && *mine.score > 0 && *above.score > 0) {
        gain = std::max(0.0, std::log(*mine.score / *above.score));
    }
    if (mine.gain == gain) {
        return;
    }
    above.gains.tries += mine.gain ? 0 : 1;
    above.gains.sum += gain - mine.gain.value_or(0);
    mine.gain = gain;
    lookAtFrontier(*parent);
}

double SearchTree::learnedPromise(NodeId id) const
{
    const Place& mine = place(id);
    const double own = std::log(std::max(1e-9, mine.ranked.value_or(1.0)));
    const double gain = (priorGain * priorTries + mine.gain.value_or(priorGain) * lineageTries + mine.gains.sum) /
                        (priorTries + lineageTries + mine.gains.tries);
    return own + gain;
}

void SearchTree::lookAtFrontier(NodeId id) const
{
    Place& mine = place(id);
    std::optional<double> wanted;
    if (mine.ranked && (mine.unasked || !mine.openIdeas.empty())) {
        wanted = learnedPromise(id);
    }
    if (mine.frontier == wanted && mine.frontierTries == mine.gains.tries) {
        return;
    }
    if (mine.frontier) {
        auto& group = m_frontier[mine.frontierTries];
        group.erase({*mine.frontier, id});
        if (group.empty()) {
            m_frontier.erase(mine.frontierTries);
        }
    }
    mine.frontier = wanted;
    mine.frontierTries = mine.gains.tries;
    if (wanted) {
        m_frontier[mine.frontierTries].insert({*wanted, id});
    }
}

} // namespace espalier
