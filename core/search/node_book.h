// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/limit.h"
#include "core/search/search_tree.h"
#include "core/store/store.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace espalier {

/// The light part of every node as observers see it, with what changed since they last looked. It shows outcomes as
/// soon as they are stored, before the strategy consumes them. Thread: the engine's.
class NodeBook
{
public:
    void setFrame(SearchFrame frame);
    void add(const StoredNode& node);
    void update(const StoredNode& node); ///< texts, flags, state
    void setState(NodeId id, NodeState state);
    void stageBegan(NodeId id, Stage stage);
    void returnedToQueue(NodeId id);
    void finished(NodeId id, const Evaluation& evaluation);
    void setSpending(NodeId id, std::int64_t tokens, std::optional<double> usd);
    void setBranchBudget(NodeId id, const BranchBudget& budget, const BranchSpending& spent);
    /// A person's word instead of the judge's: it stays over later measurements. `judged` is filled in here. nullopt:
    /// the judge's counts again.
    void overturn(NodeId id, std::optional<Overturn> overturn);
    void setOlderEdition(NodeId id); ///< its verdict is of an earlier edition of the task, until it is judged again
    void setTimedElsewhere(NodeId id,
                           bool elsewhere); ///< its absolute time is another device's, until it is timed again
    /// What built nodes may not hold, those that are there already and those to come: who does is never the best and no
    /// winner, as long as the limits stand. Verdicts stay. The task's root is spared.
    void setBans(std::vector<Limit> limits);

    const NodeSummary* find(NodeId id) const;
    const std::map<NodeId, NodeSummary>& nodes() const { return m_nodes; }
    NodeId nextId() const;
    int childrenOf(NodeId id) const;                        ///< how many: the next child's ordinal
    std::optional<NodeId> parentCandidate(NodeId id) const; ///< the nearest root or candidate above
    EvaluationCounts counts() const { return m_counts; }
    /// How many of the newer nodes have been evaluated; counts no further than `most`.
    std::int64_t evaluatedAfter(NodeId id, std::int64_t most) const;
    bool pruned(NodeId id) const; ///< it or anything above it
    /// Errors: InvalidInput: it or something below it is pinned, and so protected from what takes it out of the search.
    Result<void> checkUnprotected(NodeId id) const;
    /// The fastest that passed, of the frame, not pruned and not banned; the root when nothing is faster. Measured
    /// figures: a node takes the place of an older one only when it is faster beyond the tie band and not slower than
    /// its own parent, and never when it breaks the objective's guard. `inFull`: among those that were timed in the
    /// full tier, and the root.
    std::optional<NodeId> best(bool inFull = false) const;
    /// What is told as the best: of those that were timed in the full tier, since the best of many quick figures is
    /// flattered by its noise; best() where none was, or where figures are modelled and have no noise.
    std::optional<NodeId> headline() const;
    /// The same among the candidates that the words are true of; the headline itself where it is one of them.
    std::optional<NodeId> headline(const std::function<bool(const NodeSummary&)>& among) const;
    /// Who was the best one after the other, by the rule of best(): the last one is it.
    std::vector<NodeId> leaders() const;
    /// Up to `most` of the fastest that are faster than the root and have not been measured again, the best first.
    std::vector<NodeId> winners(std::size_t most) const;
    std::vector<NodeSummary> takeChanged(); ///< in id order

private:
    struct Entry {
        int children = 0;
        std::int64_t EvaluationCounts::* counted = nullptr; ///< the tally that it is in
        std::vector<KernelResources> kernels;               ///< of its build, for bans
    };
    /// The walk over the nodes in the order of their ids that finds the best, as far as it holds: who led, and from
    /// which node on. What changes at one node leaves all of the walk before it as it was.
    struct Lead {
        std::vector<NodeId> leaders; ///< each took the place of the one before
        NodeId seen{0};              ///< the walk has come so far
    };
    void changed(NodeId id);
    void ranksAnew(NodeId id);
    void holdToBans(NodeId id);
    void count(const NodeSummary& node);
    std::optional<double> scoreOf(const NodeSummary& node) const;
    bool beats(const NodeSummary& challenger, const NodeSummary& best) const;
    void follow(Lead& lead, const std::function<bool(const NodeSummary&)>& among) const;
    Interval overRoot(const NodeSummary& node) const;

    SearchFrame m_frame;
    std::vector<Limit> m_bans;
    std::map<NodeId, NodeSummary> m_nodes;
    std::map<NodeId, Entry> m_entries;
    std::set<NodeId> m_changed;
    EvaluationCounts m_counts;
    mutable std::array<Lead, 2> m_lead; ///< by `inFull`
    std::set<NodeId> m_inFull;
};

} // namespace espalier
