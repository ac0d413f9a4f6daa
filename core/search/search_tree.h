// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/node.h"
#include "core/search/kernel_traits.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace espalier {

/// Every session's first node: the task's own root, which everything is compared with.
inline constexpr NodeId taskRoot{1};

/// What measurements may be compared with each other: one kind of figure, taken in one environment.
struct SearchFrame {
    Provenance provenance = Provenance::Model;
    std::string epoch;
    bool operator==(const SearchFrame&) const = default;
};

/// What the search knows of a candidate once its outcome was consumed.
struct Verdict {
    Outcome outcome = Outcome::NotRun;
    SearchFrame frame;
    std::optional<double> timeUs, speedupRoot;
    std::optional<BuildTraits> build;
    double deviceSeconds = 0;            ///< that the judge spent on it
    std::optional<double> speedupAtMost; ///< upper end of the interval of speedupRoot
    bool fullTier = false;               ///< how its figures were taken
    bool counts = true;                  ///< as an evaluation: see countsAsEvaluation()
};

struct TreeNode {
    NodeId id{0};
    NodeKind kind = NodeKind::Candidate;
    std::optional<NodeId> parent; ///< the primary one; nullopt: a root
    int ordinal = 0;
    std::string title, proposer;
    std::string key; ///< ideas: the proposer's name for it
    bool pinned = false, pruned = false;
    bool banned = false; ///< it holds what the engineer has banned: no parent, not repaired, no candidates of it
    double boost = 1;
    int planned = 1;                   ///< ideas: how many candidates, those beside the plan not counted
    bool beside = false;               ///< candidates: a repair, or the engineer's own under an idea of somebody else's
    int childrenBeside = 0;            ///< ideas: how many of its children are
    std::optional<NodeId> mends;       ///< candidates: the failed one that it repairs
    bool mended = false;               ///< candidates: a repair of it stands in the tree
    bool mendable = false;             ///< candidates: its proposer would repair it, should it fail
    bool exhausted = false;            ///< ideas: nothing more comes
    bool oneByOne = false;             ///< ideas: each implementation waits for the outcome of those before it
    bool asked = false;                ///< roots and candidates: their ideas stand in the tree
    std::optional<NodeId> crossedWith; ///< ideas: the second parent
    std::optional<Verdict> verdict;    ///< roots and candidates: once consumed
    std::vector<NodeId> children;      ///< in id order
    KernelTraits traits;               ///< roots and candidates: of the source
    BranchBudget budget;               ///< of it and everything below
    BranchSpending spentBefore;        ///< what the branch had spent when its budget was set
    BranchSpending spent;              ///< of this node alone, evaluations not counted (they are nodes): addSpending()
    bool byHand = false;               ///< ideas: the engineer crossed two nodes
    bool byEngineer = false;           ///< the engineer wrote it; ideas: `proposer` is who implements it
    bool edited = false;               ///< ideas: a proposer had it, and the engineer has written it anew

    int tries() const { return static_cast<int>(children.size()) - childrenBeside; } ///< ideas: implementations so far

    // Set by SearchTree::add.
    std::int64_t birth = 0; ///< roots and candidates: how many there were before it
    NodeId branch{0};       ///< the child of a root that it descends from; roots: itself
    std::uint64_t draw = 0; ///< ideas: proposer and key as a part of a draw
};

/// An idea that may get another candidate now.
struct OpenIdea {
    double weight = 0; ///< of parent and idea together: the parent's score times both boosts
    NodeId id{0}, parent{0};
    int tries = 0;
    bool pinned = false; ///< it or its parent
};
/// A node with a figure, for sorted sets: the largest first, the oldest among equals.
struct Ranked {
    double weight = 0;
    NodeId id{0};
    bool operator<(const Ranked& other) const { return weight != other.weight ? weight > other.weight : id < other.id; }
};

/// An open idea where a seed draws it: the fewest tries for its boost first, then the boosted, then by chance.
struct Drawn {
    double tries = 0; ///< over the boosts of idea and parent together
    double boost = 1; ///< of both
    std::uint64_t draw = 0;
    NodeId id{0};
    bool operator==(const Drawn&) const = default;
    bool operator<(const Drawn& other) const
    {
        return tries != other.tries   ? tries < other.tries
               : boost != other.boost ? boost > other.boost
               : draw != other.draw   ? draw < other.draw
                                      : id < other.id;
    }
};

/// The tree as a strategy sees it: nodes, what the engineer did to them, and the outcomes consumed so far. Pure: no
/// store, no clock. Never ranks modelled against measured figures or across epochs: only verdicts of the tree's frame
/// have a score. Thread: one owner. Node ids only grow.
///
/// Beside the nodes it keeps sorted views of them, so that a decision does not look at every node of a session of
/// 100,000. A node that find() handed out for change is looked at again before the next question; do not keep the
/// pointer over one.
class SearchTree
{
public:
    explicit SearchTree(SearchFrame frame = {}) : m_frame(std::move(frame)) {}

    void setFrame(SearchFrame frame);
    const SearchFrame& frame() const { return m_frame; }
    void add(TreeNode node);                               ///< its parent must be there
    static std::uint64_t drawOfIdea(const TreeNode& idea); ///< TreeNode::draw, of who implements it and its key
    TreeNode* find(NodeId id);
    const TreeNode* find(NodeId id) const;
    const TreeNode& at(NodeId id) const; ///< must be there
    const std::map<NodeId, TreeNode>& nodes() const { return m_nodes; }
    const TreeNode* root() const;                                ///< the first root
    const std::vector<NodeId>& roots() const { return m_roots; } ///< oldest first
    /// Nobody can cross these two: it is not to be decided again.
    void refuseCrossing(NodeId a, NodeId b) { m_uncrossable.insert({a, b}); }
    bool crossed(NodeId a, NodeId b) const; ///< there is an idea of the two, in either order, or it was refused

    bool inSearch(NodeId id) const; ///< neither it nor anything above it is pruned or has used up its budget
    bool isParent(NodeId id) const; ///< a root or candidate that passed, is in the search and not banned
    /// A model wrote it: its idea is one of those that are implemented one by one.
    bool writtenByModel(std::optional<NodeId> id) const;
    /// The nearest root or candidate above an idea or candidate.
    std::optional<NodeId> parentCandidate(NodeId id) const;
    /// Speed-up over the root; nullopt unless it passed and its figures are of the frame.
    std::optional<double> score(NodeId id) const;
    double bestScore() const; ///< at least 1 where the root has a score; 1 when nothing has
    /// Score relative to the best, times boost; nodes of another epoch count like the root. 0: never chosen.
    double promise(NodeId id) const { return promise(id, bestScore()); }
    double promise(NodeId id, double best) const;
    BranchSpending spentBelow(NodeId id) const;              ///< by it and everything below: looks at every one
    void addSpending(NodeId id, const BranchSpending& more); ///< tokens, money, seconds of this node
    BranchSpending spentOfBudget(NodeId id) const;      ///< by a branch with a budget since it was set; else nothing
    std::optional<NodeId> spentBranch(NodeId id) const; ///< the nearest branch around it that has used up its budget
    std::vector<NodeId> budgeted() const;               ///< nodes with a budget of their own

    // Views. They hold until the tree changes.
    /// Parents that were never asked for ideas, oldest first.
    const std::set<NodeId>& unasked() const;
    /// Everything that may be a parent, by score times boost; what is boosted to 0 is left out.
    const std::set<Ranked>& ranked() const;
    const std::set<NodeId>& pinnedParents() const;
    /// Ideas that may get another candidate: those planned for one, or series of several; the most promising first.
    const std::set<Ranked>& openIdeas(bool series) const;
    OpenIdea openIdea(NodeId id) const; ///< of one in openIdeas()
    /// All open ideas as the seed draws them. One seed is kept up to date, the one that was asked for last.
    const std::set<Drawn>& drawnIdeas(std::uint64_t seed) const;
    const std::set<NodeId>& openIdeasUnder(NodeId parent) const;
    const std::set<NodeId>& pinnedIdeas() const;  ///< of the open ones
    const std::set<NodeId>& boostedIdeas() const; ///< of the open ones: boosted above 1
    /// Candidates in the search without an outcome whose outcome may open new ideas: not those of series.
    bool discoveryAwaited() const;
    /// Candidates in the search without an outcome, of ideas that are implemented one by one.
    const std::set<NodeId>& awaitedOneByOne() const;
    /// Candidates in the search whose consumed outcome asks for a repair that may be had and is not there yet, oldest
    /// first.
    const std::set<NodeId>& broken() const;
    bool anythingAwaited() const; ///< any candidate in the search has no outcome yet
    /// Parents with something left to do (not asked, or with open ideas), by how often they were expanded, each group
    /// by learned promise: see gainOf().
    const std::map<int, std::set<Ranked>>& frontier() const;
    /// Parents by traits: each cell's best first.
    const std::map<int, std::set<Ranked>>& cells() const;
    std::int64_t births() const { return m_births; } ///< roots and candidates so far
    /// What expansions of a parent brought: for each of its candidates the logarithm of the speed-up over it, at least
    /// 0, summed; and how many there are, those on their way included.
    struct Gain {
        double sum = 0;
        int tries = 0;
    };
    Gain gainOf(NodeId parent) const;

private:
    /// Under what each node stands in the views, so that it can be taken out again.
    struct Place {
        bool out = false;     ///< pruned or spent, or below such a node
        bool gone = false;    ///< pruned, or below what is
        bool counted = false; ///< as an evaluation, in what the branches around it have spent
        bool pinnedIdea = false, boostedIdea = false;
        bool unasked = false, pinned = false, awaited = false, discovery = false, oneByOne = false, broken = false;
        std::optional<double> score, ranked, open, frontier;
        bool openSeries = false;
        int frontierTries = 0;
        int cell = -1;
        std::optional<double> gain; ///< that it brought its parent candidate
        Gain gains;                 ///< that its candidates brought
        std::optional<Drawn> drawn;
        std::set<NodeId> openIdeas;
    };

    void touch(NodeId id) const { m_dirty.insert(m_dirty.end(), id); }
    void touchAll() const;
    void refresh() const;
    void look(NodeId id) const;
    bool awaitsChild(const TreeNode& idea) const;
    void lookAtIdea(const TreeNode& node, Place& place) const;
    void lookAtCandidate(const TreeNode& node, Place& place) const;
    void lookAtFrontier(NodeId id) const;
    void keepDrawn(const TreeNode& idea, Place& place) const;
    void countGain(const TreeNode& node, Place& place) const;
    bool closed(const TreeNode& node) const;
    void charge(std::optional<NodeId> from, const BranchSpending& more) const;
    BranchSpending seenBelow(NodeId id) const;
    static bool failed(const TreeNode& node);
    double learnedPromise(NodeId id) const;
    Place& place(NodeId id) const { return m_places[static_cast<std::size_t>(id.value)]; }

    SearchFrame m_frame;
    std::map<NodeId, TreeNode> m_nodes;
    std::set<std::pair<NodeId, NodeId>> m_crossed, m_uncrossable;
    std::int64_t m_births = 0;
    std::vector<NodeId> m_roots;

    mutable std::set<NodeId> m_dirty;
    mutable std::map<NodeId, BranchSpending> m_budgeted; ///< what branches with a budget of their own have spent in all
    mutable std::optional<double> m_rootTime;
    mutable std::vector<Place> m_places; ///< by id
    mutable std::set<NodeId> m_unasked, m_pinned, m_pinnedIdeas, m_boostedIdeas, m_awaited, m_discovery, m_oneByOne,
        m_broken;
    mutable std::set<Ranked> m_scores, m_ranked;
    mutable std::array<std::set<Ranked>, 2> m_open; ///< single, series
    mutable std::map<int, std::set<Ranked>> m_frontier, m_cells;
    mutable std::optional<std::uint64_t> m_drawSeed; ///< nullopt: nobody draws
    mutable std::set<Drawn> m_drawn;
};

} // namespace espalier
