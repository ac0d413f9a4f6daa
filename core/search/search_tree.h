// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/node.h"

#include <map>
#include <optional>
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
};

struct TreeNode {
    NodeId id{0};
    NodeKind kind = NodeKind::Candidate;
    std::optional<NodeId> parent; ///< the primary one; nullopt: a root
    int ordinal = 0;
    std::string title, proposer;
    std::string key; ///< ideas: the proposer's name for it
    bool pinned = false, pruned = false;
    double boost = 1;
    int planned = 1;                ///< ideas: how many candidates, repairs not counted
    int repairs = 0;                ///< ideas: how many of its children are repairs
    std::optional<NodeId> mends;    ///< candidates: the failed one that it repairs
    bool mended = false;            ///< candidates: a repair of it stands in the tree
    bool exhausted = false;         ///< ideas: nothing more comes
    bool asked = false;             ///< roots and candidates: their ideas stand in the tree
    std::optional<Verdict> verdict; ///< roots and candidates: once consumed
    std::vector<NodeId> children;   ///< in id order

    int tries() const { return static_cast<int>(children.size()) - repairs; } ///< ideas: implementations so far
};

/// The tree as a strategy sees it: nodes, what the engineer did to them, and the outcomes consumed so far. Pure: no
/// store, no clock. Never ranks modelled against measured figures or across epochs: only verdicts of the tree's frame
/// have a score. Thread: one owner. Node ids only grow.
class SearchTree
{
public:
    explicit SearchTree(SearchFrame frame = {}) : m_frame(std::move(frame)) {}

    void setFrame(SearchFrame frame) { m_frame = std::move(frame); }
    const SearchFrame& frame() const { return m_frame; }
    void add(TreeNode node); ///< its parent must be there
    TreeNode* find(NodeId id);
    const TreeNode* find(NodeId id) const;
    const TreeNode& at(NodeId id) const; ///< must be there
    const std::map<NodeId, TreeNode>& nodes() const { return m_nodes; }
    const TreeNode* root() const; ///< the first root

    bool inSearch(NodeId id) const; ///< neither it nor anything above it is pruned
    bool isParent(NodeId id) const; ///< a root or candidate that passed and is in the search
    /// The nearest root or candidate above an idea or candidate.
    std::optional<NodeId> parentCandidate(NodeId id) const;
    /// Speed-up over the root; nullopt unless it passed and its figures are of the frame.
    std::optional<double> score(NodeId id) const;
    double bestScore() const; ///< at least 1 where the root has a score; 1 when nothing has
    /// Score relative to the best, times boost; nodes of another epoch count like the root. 0: never chosen.
    double promise(NodeId id) const { return promise(id, bestScore()); }
    double promise(NodeId id, double best) const; ///< with bestScore() at hand: it looks at every node

private:
    SearchFrame m_frame;
    std::map<NodeId, TreeNode> m_nodes;
};

} // namespace espalier
