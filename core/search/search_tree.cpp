// SPDX-License-Identifier: Apache-2.0
#include "core/search/search_tree.h"

#include "core/search/draw.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace espalier {

void SearchTree::setFrame(SearchFrame frame)
{
    m_frame = std::move(frame);
    touchAll();
}

void SearchTree::add(TreeNode node)
{
    assert(node.id.value > 0 && !m_nodes.contains(node.id));
    node.branch = node.id;
    if (node.parent) {
        TreeNode* parent = find(*node.parent);
        assert(parent);
        auto& siblings = parent->children;
        siblings.insert(std::upper_bound(siblings.begin(), siblings.end(), node.id), node.id);
        node.branch = parent->parent ? parent->branch : node.id;
    } else {
        m_roots.push_back(node.id);
    }
    if (node.kind == NodeKind::Idea) {
        node.draw = drawOfIdea(node);
        if (node.crossedWith && node.parent) {
            m_crossed.insert(std::minmax(*node.parent, *node.crossedWith));
        }
    } else {
        node.birth = m_births++;
    }
    if (m_places.size() <= static_cast<std::size_t>(node.id.value)) {
        m_places.resize(std::max<std::size_t>(static_cast<std::size_t>(node.id.value) + 1, m_places.size() * 2));
    }
    touch(node.id);
    const NodeId id = node.id;
    m_nodes.emplace_hint(m_nodes.end(), id, std::move(node)); // ids only grow
}

std::uint64_t SearchTree::drawOfIdea(const TreeNode& idea)
{
    return drawOf({drawPart(idea.proposer), drawPart(idea.key)});
}

TreeNode* SearchTree::find(NodeId id)
{
    const auto found = m_nodes.find(id);
    if (found == m_nodes.end()) {
        return nullptr;
    }
    touch(id);
    return &found->second;
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

bool SearchTree::crossed(NodeId a, NodeId b) const
{
    return m_crossed.contains(std::minmax(a, b)) || m_uncrossable.contains({a, b}) || m_uncrossable.contains({b, a});
}

bool SearchTree::inSearch(NodeId id) const
{
    refresh();
    return m_nodes.contains(id) && !place(id).out;
}

bool SearchTree::isParent(NodeId id) const
{
    const TreeNode& node = at(id);
    return node.kind != NodeKind::Idea && node.verdict && node.verdict->outcome == Outcome::Passed && !node.banned &&
           inSearch(id);
}

bool SearchTree::writtenByModel(std::optional<NodeId> id) const
{
    const TreeNode* node = id ? find(*id) : nullptr;
    const TreeNode* idea = node && node->parent ? find(*node->parent) : nullptr;
    return idea && idea->kind == NodeKind::Idea && idea->oneByOne && !node->byEngineer;
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
    refresh();
    return m_scores.empty() || m_scores.begin()->weight <= 0 ? 1 : m_scores.begin()->weight;
}

double SearchTree::promise(NodeId id, double best) const
{
    return score(id).value_or(1.0) / best * std::max(0.0, at(id).boost);
}

const std::set<NodeId>& SearchTree::unasked() const
{
    refresh();
    return m_unasked;
}

const std::set<Ranked>& SearchTree::ranked() const
{
    refresh();
    return m_ranked;
}

const std::set<NodeId>& SearchTree::pinnedParents() const
{
    refresh();
    return m_pinned;
}

const std::set<Ranked>& SearchTree::openIdeas(bool series) const
{
    refresh();
    return m_open[series ? 1 : 0];
}

OpenIdea SearchTree::openIdea(NodeId id) const
{
    refresh();
    const TreeNode& node = at(id);
    const NodeId parent = *parentCandidate(id);
    return {place(id).open.value_or(0), id, parent, node.tries(), node.pinned || at(parent).pinned};
}

const std::set<Drawn>& SearchTree::drawnIdeas(std::uint64_t seed) const
{
    refresh();
    if (m_drawSeed != seed) {
        for (const Drawn& old : std::exchange(m_drawn, {})) {
            place(old.id).drawn.reset();
        }
        m_drawSeed = seed;
        for (const auto& open : m_open) {
            for (const Ranked& idea : open) {
                keepDrawn(at(idea.id), place(idea.id));
            }
        }
    }
    return m_drawn;
}

const std::set<NodeId>& SearchTree::broken() const
{
    refresh();
    return m_broken;
}

const std::set<NodeId>& SearchTree::openIdeasUnder(NodeId parent) const
{
    refresh();
    return place(parent).openIdeas;
}

const std::set<NodeId>& SearchTree::pinnedIdeas() const
{
    refresh();
    return m_pinnedIdeas;
}

const std::set<NodeId>& SearchTree::boostedIdeas() const
{
    refresh();
    return m_boostedIdeas;
}

bool SearchTree::discoveryAwaited() const
{
    refresh();
    return !m_discovery.empty();
}

const std::set<NodeId>& SearchTree::awaitedOneByOne() const
{
    refresh();
    return m_oneByOne;
}

bool SearchTree::anythingAwaited() const
{
    refresh();
    return !m_awaited.empty();
}

const std::map<int, std::set<Ranked>>& SearchTree::frontier() const
{
    refresh();
    return m_frontier;
}

const std::map<int, std::set<Ranked>>& SearchTree::cells() const
{
    refresh();
    return m_cells;
}

SearchTree::Gain SearchTree::gainOf(NodeId parent) const
{
    refresh();
    return place(parent).gains;
}

} // namespace espalier
