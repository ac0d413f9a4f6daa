// SPDX-License-Identifier: GPL-3.0-only
#include "views/comparison.h"

#include "views/workbench.h"

#include <algorithm>

namespace espalier {

Comparison::Comparison(Workbench& bench, QObject* parent) : QObject(parent), m_bench(bench)
{
    connect(&bench, &Workbench::selectionChanged, this, &Comparison::changed);
    connect(&bench, &Workbench::sessionClosed, this, [this] {
        m_kept.clear();
        emit changed();
    });
    connect(&bench.nodes(), &NodeStore::statusChanged, this, [this] {
        if (m_against == Against::Best) {
            emit changed();
        }
    });
}

void Comparison::setAgainst(Against against)
{
    if (against != m_against) {
        m_against = against;
        emit changed();
    }
}

bool Comparison::comparable(NodeId node) const
{
    const int index = m_bench.nodes().indexOf(node);
    return index >= 0 && m_bench.nodes().at(index).kind != NodeKind::Idea;
}

std::optional<NodeId> Comparison::baseline() const
{
    const auto selected = m_bench.selected();
    if (!selected || !comparable(*selected)) {
        return std::nullopt;
    }
    const NodeStore& nodes = m_bench.nodes();
    int index = -1;
    switch (m_against) {
    case Against::Parent:
        index = nodes.parentCandidateOf(m_bench.selectedIndex());
        break;
    case Against::Root:
        index = nodes.roots().empty() ? -1 : nodes.roots().front();
        break;
    case Against::Best:
        index = nodes.bestIndex();
        break;
    }
    if (index < 0 || nodes.at(index).id == *selected) {
        return std::nullopt;
    }
    return nodes.at(index).id;
}

bool Comparison::isKept(NodeId node) const
{
    return std::find(m_kept.begin(), m_kept.end(), node) != m_kept.end();
}

void Comparison::keep(NodeId node, bool kept)
{
    if (kept == isKept(node) || !comparable(node)) {
        return;
    }
    if (kept) {
        m_kept.push_back(node);
    } else {
        std::erase(m_kept, node);
    }
    emit changed();
}

void Comparison::clearKept()
{
    m_kept.clear();
    emit changed();
}

std::vector<NodeId> Comparison::candidates() const
{
    std::vector<NodeId> all;
    const auto add = [&](NodeId node) {
        if (comparable(node) && std::find(all.begin(), all.end(), node) == all.end()) {
            all.push_back(node);
        }
    };
    if (const auto node = baseline()) {
        add(*node);
    }
    if (const auto selected = m_bench.selected()) {
        add(*selected);
    }
    for (const NodeId node : m_kept) {
        add(node);
    }
    return all;
}

} // namespace espalier
