// SPDX-License-Identifier: GPL-3.0-only
#include "views/tree_fold.h"

#include "views/node_store.h"

#include <algorithm>

namespace espalier {

void TreeFold::setBestLineages(bool on)
{
    m_bestLineages = on;
    m_opened.clear();
}

void TreeFold::toggle(NodeId node, bool hasHiddenChildren)
{
    if (hasHiddenChildren) {
        m_folded.erase(node);
        m_opened.insert(node);
    } else {
        m_opened.erase(node);
        m_folded.insert(node);
    }
}

void TreeFold::reveal(const NodeStore& nodes, int node)
{
    for (int above = nodes.parentOf(node); above >= 0; above = nodes.parentOf(above)) {
        const NodeId id = nodes.at(above).id;
        m_folded.erase(id);
        if (m_bestLineages) {
            m_opened.insert(id);
        }
    }
}

std::vector<char> TreeFold::keptLines(const NodeStore& nodes) const
{
    std::vector<int> passed;
    std::vector<char> kept(std::size_t(nodes.count()), 0);
    for (int i = 0; i < nodes.count(); ++i) {
        const NodeSummary& node = nodes.at(i);
        if (node.kind == NodeKind::Root || node.pinned || node.state == NodeState::Running ||
            (node.kind == NodeKind::Idea && node.state == NodeState::Draft)) {
            kept[std::size_t(i)] = 1;
        }
        if (node.kind == NodeKind::Candidate && node.outcome == Outcome::Passed && node.timeUs) {
            passed.push_back(i);
        }
    }
    const auto best = passed.begin() + std::min<std::ptrdiff_t>(lineagesKept, std::ptrdiff_t(passed.size()));
    std::partial_sort(passed.begin(), best, passed.end(),
                      [&](int a, int b) { return nodes.at(a).timeUs->value < nodes.at(b).timeUs->value; });
    std::for_each(passed.begin(), best, [&](int node) { kept[std::size_t(node)] = 1; });
    for (int i = nodes.count() - 1; i >= 0; --i) { // children stand after their parents
        if (kept[std::size_t(i)] && nodes.parentOf(i) >= 0) {
            kept[std::size_t(nodes.parentOf(i))] = 1;
        }
    }
    return kept;
}

std::vector<char> TreeFold::visible(const NodeStore& nodes) const
{
    std::vector<char> visible = m_bestLineages ? keptLines(nodes) : std::vector<char>(std::size_t(nodes.count()), 1);
    for (int i = 0; i < nodes.count(); ++i) {
        const int parent = nodes.parentOf(i);
        if (parent < 0) {
            continue;
        }
        const NodeId above = nodes.at(parent).id;
        if (m_opened.contains(above)) {
            visible[std::size_t(i)] = 1;
        }
        if (m_folded.contains(above) || !visible[std::size_t(parent)]) {
            visible[std::size_t(i)] = 0;
        }
    }
    return visible;
}

} // namespace espalier
