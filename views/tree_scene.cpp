// SPDX-License-Identifier: GPL-3.0-only
#include "views/tree_scene.h"

#include "views/node_store.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {
constexpr double breath = 1.06; ///< letters do not shrink evenly with the zoom
}

void TreeScene::setFont(const QFont& font)
{
    m_font = font;
    reset();
}

void TreeScene::measure(int node)
{
    const NodeSummary& summary = m_nodes.at(node);
    Label& label = m_labels[std::size_t(node)];
    label.look = lookOf(summary, node == m_nodes.bestIndex());
    QFont bold = m_font;
    bold.setBold(true);
    const QFontMetricsF plain(m_font), strong(bold);
    if (summary.kind == NodeKind::Idea) {
        label.side.clear();
        label.mainWidth = plain.horizontalAdvance(label.look.title);
    } else {
        const int parent = m_nodes.parentOf(node);
        const bool repeats = parent >= 0 && m_nodes.at(parent).title == summary.title;
        label.side = repeats ? QString() : label.look.title;
        label.mainWidth = strong.horizontalAdvance(label.look.figure.isEmpty() ? label.look.word : label.look.figure);
    }
    const double widest = summary.kind == NodeKind::Idea ? widestIdea : widestCandidate;
    label.mainWidth = std::min(std::ceil(label.mainWidth * breath) + 2, widest);
    label.sideWidth = label.side.isEmpty() ? 0
                                           : std::min(std::ceil(plain.horizontalAdvance(label.side) * breath) + 2,
                                                      std::max(56.0, widest - label.mainWidth));
}

void TreeScene::update(const QList<int>& added, const QList<int>& changed)
{
    m_labels.resize(std::size_t(m_nodes.count()));
    for (const QList<int>* list : {&added, &changed}) {
        for (const int node : *list) {
            measure(node);
        }
    }
    relayout();
}

void TreeScene::reset()
{
    m_columnWidth.clear();
    m_labels.assign(std::size_t(m_nodes.count()), {});
    for (int node = 0; node < m_nodes.count(); ++node) {
        measure(node);
    }
    relayout();
}

void TreeScene::relayout()
{
    std::vector<std::vector<int>> children(std::size_t(m_nodes.count()));
    for (int node = 0; node < m_nodes.count(); ++node) {
        children[std::size_t(node)] = m_nodes.childrenOf(node);
    }
    m_layout = layOutTree(m_nodes.roots(), children, m_fold.visible(m_nodes));
    const std::size_t depths = m_layout.columns.size();
    m_columnWidth.resize(std::max(depths, m_columnWidth.size()), 0);
    m_columnLeft.assign(depths + 1, 0);
    for (std::size_t depth = 0; depth < depths; ++depth) {
        double& width = m_columnWidth[depth];
        for (const int node : m_layout.columns[depth]) {
            const double stub = m_layout.hiddenBelow[std::size_t(node)] > 0 ? 44 : 0;
            width = std::max(width, labelStart + m_labels[std::size_t(node)].width() + stub + columnGap);
        }
        m_columnLeft[depth + 1] = m_columnLeft[depth] + std::ceil(width / 8) * 8;
    }
}

QPointF TreeScene::signOf(int node) const
{
    return {columnLeft(m_layout.depth[std::size_t(node)]) + signCentre,
            (m_layout.row[std::size_t(node)] + 0.5) * rowHeight};
}

double TreeScene::labelEnd(int node) const
{
    const Label& label = labelOf(node);
    const double left = columnLeft(m_layout.depth[std::size_t(node)]) + labelStart;
    return label.width() > 0 ? left + label.width() : left - labelStart + signCentre + signRadius + 2;
}

QRectF TreeScene::foldRectOf(int node) const
{
    if (m_layout.hiddenBelow[std::size_t(node)] == 0) {
        return {};
    }
    return {labelEnd(node) + 6, (m_layout.row[std::size_t(node)] + 0.5) * rowHeight - 9, 38, 18};
}

QRectF TreeScene::rectOf(int node) const
{
    const double left = columnLeft(m_layout.depth[std::size_t(node)]) + 2;
    return {left, m_layout.row[std::size_t(node)] * rowHeight + 2, labelEnd(node) + 4 - left, rowHeight - 4};
}

QSizeF TreeScene::size() const
{
    return m_layout.columns.empty() ? QSizeF() : QSizeF(m_columnLeft.back(), m_layout.rows * rowHeight);
}

int TreeScene::nodeAt(const QPointF& point) const
{
    const auto column =
        std::upper_bound(m_columnLeft.begin(), m_columnLeft.end(), point.x()) - m_columnLeft.begin() - 1;
    if (point.y() < 0 || column < 0 || column >= std::ptrdiff_t(m_layout.columns.size())) {
        return -1;
    }
    const std::vector<int>& nodes = m_layout.columns[std::size_t(column)];
    const int row = int(point.y() / rowHeight);
    const auto found = std::lower_bound(nodes.begin(), nodes.end(), row, [this](int node, int wanted) {
        return m_layout.row[std::size_t(node)] < wanted;
    });
    if (found == nodes.end() || m_layout.row[std::size_t(*found)] != row) {
        return -1;
    }
    return rectOf(*found).contains(point) || foldRectOf(*found).contains(point) ? *found : -1;
}

} // namespace espalier
