// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/node_look.h"
#include "views/tree_fold.h"
#include "views/tree_layout.h"

#include <QFont>
#include <QRectF>
#include <QSizeF>
#include <vector>

namespace espalier {

class NodeStore;

/// Geometry of the drawn tree at zoom 1, in flat arrays: places, labels, columns. Knows no widget and no scrolling.
/// Thread: GUI. Reads the store it was made for, which must outlive it.
class TreeScene
{
public:
    static constexpr double rowHeight = 28;
    static constexpr double signRadius = 6;
    static constexpr double signCentre = 14; ///< of a column's left edge
    static constexpr double labelStart = 28;
    static constexpr double columnGap = 30; ///< between a label and the next column: room for the edges
    static constexpr double widestIdea = 176, widestCandidate = 220;

    struct Label {
        NodeLook look;
        QString side; ///< a candidate's own title where it differs from its idea's
        double mainWidth = 0, sideWidth = 0;
        double width() const { return mainWidth + (sideWidth > 0 ? 8 + sideWidth : 0); }
    };

    explicit TreeScene(const NodeStore& nodes) : m_nodes(nodes) {}

    void setFont(const QFont& font); ///< at zoom 1; measures everything again
    const QFont& font() const { return m_font; }
    TreeFold& fold() { return m_fold; }
    const TreeFold& fold() const { return m_fold; }

    /// Takes over what the store has now. Columns only ever grow while nodes come in, so that a running search does not
    /// make the picture breathe; reset() forgets that.
    void update(const QList<int>& added, const QList<int>& changed);
    void relayout();
    void reset();

    const TreeLayout& layout() const { return m_layout; }
    const Label& labelOf(int node) const { return m_labels[std::size_t(node)]; }
    bool isVisible(int node) const
    {
        return node >= 0 && node < int(m_layout.row.size()) && m_layout.row[std::size_t(node)] >= 0;
    }
    double columnLeft(int depth) const { return m_columnLeft[std::size_t(depth)]; }
    QPointF signOf(int node) const;
    QRectF rectOf(int node) const; ///< sign and label: what reacts to the mouse
    double labelEnd(int node) const;
    QRectF foldRectOf(int node) const; ///< the "+N" stub; null without one
    QSizeF size() const;
    int nodeAt(const QPointF& point) const; ///< -1: none

private:
    void measure(int node);

    const NodeStore& m_nodes;
    QFont m_font;
    TreeFold m_fold;
    TreeLayout m_layout;
    std::vector<Label> m_labels;
    std::vector<double> m_columnWidth, m_columnLeft;
};

} // namespace espalier
