// SPDX-License-Identifier: Apache-2.0
// The part of the search tree that keeps what its branches may spend. A branch with a budget has a running total, so
// that neither a new node nor a decision looks at the whole branch.
#include "core/search/search_tree.h"

namespace espalier {

BranchSpending SearchTree::spentBelow(NodeId id) const
{
    refresh();
    return seenBelow(id);
}

/// Of evaluations those that were looked at: the others are added when they are.
BranchSpending SearchTree::seenBelow(NodeId id) const
{
    BranchSpending sum;
    std::vector<NodeId> open = {id};
    while (!open.empty()) {
        const TreeNode& node = at(open.back());
        open.pop_back();
        sum = sum + node.spent;
        sum.evaluations += node.id != id && place(node.id).counted ? 1 : 0;
        open.insert(open.end(), node.children.begin(), node.children.end());
    }
    return sum;
}

/// Adds to the totals of `from` and of everything above it.
void SearchTree::charge(std::optional<NodeId> from, const BranchSpending& more) const
{
    if (m_budgeted.empty()) {
        return;
    }
    for (std::optional<NodeId> up = from; up; up = at(*up).parent) {
        if (const auto found = m_budgeted.find(*up); found != m_budgeted.end()) {
            found->second = found->second + more;
            touch(*up);
        }
    }
}

void SearchTree::addSpending(NodeId id, const BranchSpending& more)
{
    TreeNode& node = *find(id);
    node.spent = node.spent + more;
    charge(id, more);
}

bool SearchTree::closed(const TreeNode& node) const
{
    const auto found = m_budgeted.find(node.id);
    return found != m_budgeted.end() && (found->second - node.spentBefore).reaches(node.budget);
}

BranchSpending SearchTree::spentOfBudget(NodeId id) const
{
    refresh();
    const auto found = m_budgeted.find(id);
    return found == m_budgeted.end() ? BranchSpending{} : found->second - at(id).spentBefore;
}

std::optional<NodeId> SearchTree::spentBranch(NodeId id) const
{
    refresh();
    for (std::optional<NodeId> up = id; up; up = at(*up).parent) {
        if (closed(at(*up))) {
            return up;
        }
    }
    return std::nullopt;
}

std::vector<NodeId> SearchTree::budgeted() const
{
    refresh();
    std::vector<NodeId> ids;
    for (const auto& [id, spent] : m_budgeted) {
        ids.push_back(id);
    }
    return ids;
}

} // namespace espalier
