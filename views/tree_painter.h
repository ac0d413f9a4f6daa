// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/theme.h"
#include "views/tree_scene.h"

#include <QFont>
#include <QPointF>
#include <QRectF>
#include <vector>

class QPainter;

namespace espalier {

class NodeStore;

/// Draws the exposed part of a TreeScene in device coordinates, so that lines and letters stay sharp at every zoom.
/// Level of detail by zoom: below 0.1 one small bar per node, neighbours within a pixel skipped; below 0.55 signs and
/// edges; then labels; from 0.75 also a candidate's own title. Thread: GUI; an object lives for one frame.
class TreePainter
{
public:
    struct View {
        double zoom = 1;
        QPointF origin; ///< device position of the scene's (0, 0)
        QRectF exposed; ///< device
        int selected = -1, hovered = -1;
        bool focused = false;
    };

    TreePainter(QPainter& painter, const TreeScene& scene, const NodeStore& nodes, const Theme& theme,
                const View& view);
    void paint();

private:
    struct Range {
        int begin, end;
    };
    Range exposedIn(int depth) const;
    QPointF device(const QPointF& scene) const { return scene * m_view.zoom + m_view.origin; }
    QRectF device(const QRectF& scene) const { return {device(scene.topLeft()), scene.size() * m_view.zoom}; }

    void paintColumnEdges(int depth, const Range& range);
    void paintEdge(int node);
    void paintDots(int depth, const Range& range);
    void paintNode(int node);
    void paintLabel(int node, const QRectF& rect);
    void paintFold(int node);
    void drawText(const QRectF& rect, const QString& text, const QFont& font, const QColor& colour);
    bool onSelectedLine(int node) const;

    QPainter& m_painter;
    const TreeScene& m_scene;
    const NodeStore& m_nodes;
    const Theme& m_theme;
    const View& m_view;
    QFont m_font, m_bold;
    QColor m_edge;
    std::vector<int> m_line; ///< the selected node and its ancestors, by depth
};

} // namespace espalier
