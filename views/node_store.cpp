// SPDX-License-Identifier: GPL-3.0-only
#include "views/node_store.h"

#include "core/analysis/fresh_runs.h"
#include "views/sentence.h"

#include <algorithm>

namespace espalier {

int NodeStore::indexOf(NodeId id) const
{
    const auto found = m_index.find(id);
    return found == m_index.end() ? -1 : found->second;
}

int NodeStore::parentCandidateOf(int index) const
{
    int above = parentOf(index);
    while (above >= 0 && at(above).kind == NodeKind::Idea) {
        above = parentOf(above);
    }
    return above;
}

int NodeStore::bestIndex() const
{
    return m_status.best ? indexOf(*m_status.best) : -1;
}

bool NodeStore::outOfSearch(int index) const
{
    if (!at(index).banned.empty()) {
        return true;
    }
    while (index >= 0 && !at(index).pruned) {
        index = parentOf(index);
    }
    return index >= 0;
}

const std::string& NodeStore::epoch() const
{
    static const std::string none;
    for (const int root : m_roots) {
        if (!at(root).epoch.empty()) {
            return at(root).epoch;
        }
    }
    return none;
}

IdeaResult NodeStore::resultOf(int idea) const
{
    IdeaResult result;
    for (const int child : childrenOf(idea)) {
        const NodeSummary& node = at(child);
        if (node.kind != NodeKind::Candidate) {
            continue;
        }
        ++result.implementations;
        result.running += node.state != NodeState::Done;
        result.passed += node.state == NodeState::Done && node.outcome == Outcome::Passed;
        if (node.state == NodeState::Done && node.outcome == Outcome::Passed && node.speedupRoot &&
            (!result.bestSpeedupRoot || node.speedupRoot->value > result.bestSpeedupRoot->value)) {
            result.bestSpeedupRoot = node.speedupRoot;
            result.provenance = node.provenance.value_or(Provenance::Model);
        }
    }
    return result;
}

std::optional<LibraryRatio> NodeStore::library(int index) const
{
    const NodeSummary& node = at(index);
    if (node.speedupLibrary) {
        return LibraryRatio{node.library, *node.speedupLibrary};
    }
    const NodeSummary& root = at(m_roots.front());
    if (!node.speedupRoot || !root.speedupLibrary || root.epoch != node.epoch) {
        return std::nullopt;
    }
    const Interval& beside = *root.speedupLibrary;
    return LibraryRatio{root.library,
                        statistics::quotient(*node.speedupRoot, {1 / beside.value, 1 / beside.high, 1 / beside.low})};
}

void NodeStore::apply(const std::vector<NodeSummary>& nodes, const RunStatus& status)
{
    QList<int> added, changed;
    const int known = count();
    for (const NodeSummary& node : nodes) {
        const int index = indexOf(node.id);
        if (index < 0) {
            add(node);
            added += count() - 1;
        } else if (m_nodes[std::size_t(index)] != node) {
            const bool branch = at(index).pruned != node.pruned;
            m_nodes[std::size_t(index)] = node;
            changed += index;
            for (int i = changed.size() - 1; branch && i < changed.size(); ++i) { // all below look different now
                for (const int child : childrenOf(changed[i])) {
                    changed += child;
                }
            }
        }
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    changed.erase(std::lower_bound(changed.begin(), changed.end(), known), changed.end());
    const int bestBefore = bestIndex();
    const bool statusNew = m_status != status;
    m_status = status;
    if (const int best = bestIndex(); best != bestBefore) {
        for (const int index : {bestBefore, best}) { // the star moves
            if (index >= 0 && !changed.contains(index) && !added.contains(index)) {
                changed += index;
            }
        }
        std::sort(changed.begin(), changed.end());
    }
    if (!added.isEmpty() || !changed.isEmpty()) {
        emit updated(added, changed);
    }
    if (statusNew) {
        emit statusChanged();
    }
}

void NodeStore::add(const NodeSummary& node)
{
    const int index = count();
    const int parent = node.parents.empty() ? -1 : indexOf(node.parents.front().parent);
    m_nodes.push_back(node);
    m_parents.push_back(parent);
    m_children.emplace_back();
    m_index.emplace(node.id, index);
    std::vector<int>& siblings = parent < 0 ? m_roots : m_children[std::size_t(parent)];
    const auto before = [this](int a, int b) {
        return at(a).ordinal != at(b).ordinal ? at(a).ordinal < at(b).ordinal : at(a).id < at(b).id;
    };
    siblings.insert(std::upper_bound(siblings.begin(), siblings.end(), index, before), index);
}

void NodeStore::clear()
{
    m_nodes.clear();
    m_parents.clear();
    m_children.clear();
    m_roots.clear();
    m_index.clear();
    m_status = {};
    emit cleared();
    emit statusChanged();
}

} // namespace espalier
