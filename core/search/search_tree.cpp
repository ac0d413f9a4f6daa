// SPDX-License-Identifier: Apache-2.0
#include "core/search/search_tree.h"

#include <algorithm>
#include <cassert>

namespace espalier {

void SearchTree::add(TreeNode node)
{
    assert(!m_nodes.contains(node.id));
    if (node.parent) {
        TreeNode* parent = find(*node.parent);
        assert(parent);
        auto& siblings = parent->children;
        siblings.insert(std::upper_bound(siblings.begin(), siblings.end(), node.id), node.id);
    }
    m_nodes.emplace(node.id, std::move(node));
}

TreeNode* SearchTree::find(NodeId id)
{
    const auto found = m_nodes.find(id);
    return found == m_nodes.end() ? nullptr : &found->second;
}

const TreeNode* SearchTree::find(NodeId id) const
{
    const auto found = m_nodes.find(id);
    return found == m_nodes.end() ? nullptr : &found->second;
}

const TreeNode& SearchTree::at(NodeId id) const
{
    const TreeNode* node = find(id);
    assert(node);
    return *node;
}

const TreeNode* SearchTree::root() const
{
    return m_nodes.empty() ? nullptr : &m_nodes.begin()->second;
}

bool SearchTree::inSearch(NodeId id) const
{
    for (const TreeNode* node = find(id); node; node = node->parent ? find(*node->parent) : nullptr) {
        if (node->pruned) {
            return false;
        }
    }
    return true;
}

bool SearchTree::isParent(NodeId id) const
{
    const TreeNode& node = at(id);
    return node.kind != NodeKind::Idea && node.verdict && node.verdict->outcome == Outcome::Passed && inSearch(id);
}

std::optional<NodeId> SearchTree::parentCandidate(NodeId id) const
{
    for (std::optional<NodeId> up = at(id).parent; up; up = at(*up).parent) {
        if (at(*up).kind != NodeKind::Idea) {
            return up;
        }
    }
    return std::nullopt;
}

std::optional<double> SearchTree::score(NodeId id) const
{
    const TreeNode& node = at(id);
    if (!node.verdict || node.verdict->outcome != Outcome::Passed || node.verdict->frame != m_frame) {
        return std::nullopt;
    }
    const TreeNode* first = root();
    if (&node == first) {
        return 1.0;
    }
    if (node.verdict->speedupRoot) { // paired by block: steadier than two times taken minutes apart
        return node.verdict->speedupRoot;
    }
    if (node.verdict->timeUs && *node.verdict->timeUs > 0 && first->verdict && first->verdict->frame == m_frame &&
        first->verdict->timeUs) {
        return *first->verdict->timeUs / *node.verdict->timeUs;
    }
    return std::nullopt;
}

double SearchTree::bestScore() const
{
    double best = 0;
    for (const auto& [id, node] : m_nodes) {
        if (inSearch(id)) {
            best = std::max(best, score(id).value_or(0));
        }
    }
    return best > 0 ? best : 1;
}

double SearchTree::promise(NodeId id, double best) const
{
    return score(id).value_or(1.0) / best * std::max(0.0, at(id).boost);
}

} // namespace espalier
