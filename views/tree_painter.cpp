// SPDX-License-Identifier: GPL-3.0-only
#include "views/tree_painter.h"

#include "views/node_store.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

constexpr double dotsBelow = 0.1, labelsFrom = 0.55, sideFrom = 0.75;

QFont scaled(QFont font, double zoom, bool bold)
{
    const double points = font.pointSizeF() > 0 ? font.pointSizeF() : 10;
    font.setPointSizeF(std::max(1.0, points * zoom));
    font.setBold(bold);
    return font;
}

QColor mixed(const QColor& a, const QColor& b, double share)
{
    const auto part = [&](int x, int y) { return int(std::lround(x + (y - x) * share)); };
    return {part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue())};
}

double crisp(double x)
{
    return std::floor(x) + 0.5;
}

} // namespace

TreePainter::TreePainter(QPainter& painter, const TreeScene& scene, const NodeStore& nodes, const Theme& theme,
                         const View& view)
    : m_painter(painter), m_scene(scene), m_nodes(nodes), m_theme(theme), m_view(view),
      m_font(scaled(scene.font(), view.zoom, false)), m_bold(scaled(scene.font(), view.zoom, true)),
      m_edge(mixed(theme[Token::Muted], theme[Token::Background], 0.45))
{
    for (int node = view.selected; scene.isVisible(node); node = nodes.parentOf(node)) {
        m_line.push_back(node);
    }
    std::reverse(m_line.begin(), m_line.end());
}

bool TreePainter::onSelectedLine(int node) const
{
    const auto depth = std::size_t(m_scene.layout().depth[std::size_t(node)]);
    return depth < m_line.size() && m_line[depth] == node;
}

TreePainter::Range TreePainter::exposedIn(int depth) const
{
    const TreeLayout& layout = m_scene.layout();
    const std::vector<int>& column = layout.columns[std::size_t(depth)];
    const double height = TreeScene::rowHeight * m_view.zoom;
    const int first = int(std::floor((m_view.exposed.top() - m_view.origin.y()) / height));
    const int last = int(std::floor((m_view.exposed.bottom() - m_view.origin.y()) / height));
    const auto byRow = [&](int node, int row) { return layout.row[std::size_t(node)] < row; };
    const auto begin = std::lower_bound(column.begin(), column.end(), first, byRow);
    const auto end = std::lower_bound(begin, column.end(), last + 1, byRow);
    return {int(begin - column.begin()), int(end - column.begin())};
}

void TreePainter::paint()
{
    m_painter.setRenderHint(QPainter::Antialiasing, m_view.zoom >= dotsBelow);
    const int depths = int(m_scene.layout().columns.size());
    for (const bool edges : {true, false}) {
        for (int depth = 0; depth < depths; ++depth) {
            const double left = m_scene.columnLeft(depth) * m_view.zoom + m_view.origin.x();
            const double right = m_scene.columnLeft(depth + 1) * m_view.zoom + m_view.origin.x();
            const double before = depth > 0 ? m_scene.columnLeft(depth - 1) * m_view.zoom + m_view.origin.x() : left;
            if ((edges ? before : left) > m_view.exposed.right() || right < m_view.exposed.left()) {
                continue;
            }
            const Range range = exposedIn(depth);
            if (m_view.zoom < dotsBelow) {
                if (!edges) {
                    paintDots(depth, range);
                }
            } else if (edges) {
                paintColumnEdges(depth, range);
            } else {
                const std::vector<int>& column = m_scene.layout().columns[std::size_t(depth)];
                std::for_each(column.begin() + range.begin, column.begin() + range.end,
                              [this](int node) { paintNode(node); });
            }
        }
    }
}

void TreePainter::paintColumnEdges(int depth, const Range& range)
{
    const std::vector<int>& column = m_scene.layout().columns[std::size_t(depth)];
    // The first node below the exposed part may have its edge come down through it; no later one can, because the
    // children of one node are not interleaved with another's.
    const int end = std::min(range.end + 1, int(column.size()));
    std::vector<int> last; // the selected line on top of its siblings' edges
    for (int i = range.begin; i < end; ++i) {
        if (onSelectedLine(column[std::size_t(i)])) {
            last.push_back(column[std::size_t(i)]);
        } else {
            paintEdge(column[std::size_t(i)]);
        }
    }
    std::for_each(last.begin(), last.end(), [this](int node) { paintEdge(node); });
}

void TreePainter::paintEdge(int node)
{
    const int parent = m_nodes.parentOf(node);
    if (!m_scene.isVisible(parent)) {
        return;
    }
    const bool chosen = onSelectedLine(node);
    QPen pen(chosen ? m_theme[Token::Accent] : m_edge, chosen ? 1.6 : 1.0);
    if (m_scene.labelOf(node).look.dashed) {
        pen.setDashPattern({3.0, 3.0});
    }
    m_painter.setPen(pen);
    m_painter.setBrush(Qt::NoBrush);
    const QPointF from = device(m_scene.signOf(parent)), to = device(m_scene.signOf(node));
    const bool labelled = m_view.zoom >= labelsFrom;
    const QRectF stub = m_scene.foldRectOf(parent);
    const double after = !labelled       ? m_scene.signOf(parent).x() + TreeScene::signRadius + 3
                         : stub.isNull() ? m_scene.labelEnd(parent) + 6
                                         : stub.right() + 4;
    const double start = after * m_view.zoom + m_view.origin.x();
    const double end = to.x() - (TreeScene::signRadius + 4) * m_view.zoom;
    const double y = crisp(to.y());
    if (m_scene.layout().row[std::size_t(node)] == m_scene.layout().row[std::size_t(parent)]) {
        m_painter.drawLine(QPointF(start, y), QPointF(end, y));
        return;
    }
    const double trunk =
        crisp((m_scene.columnLeft(m_scene.layout().depth[std::size_t(node)]) - 12) * m_view.zoom + m_view.origin.x());
    const double bend = std::min(5.0 * m_view.zoom, to.y() - from.y());
    QPainterPath path(QPointF(chosen ? start : trunk, crisp(from.y()))); // the first child's edge is there already
    path.lineTo(trunk, crisp(from.y()));
    path.lineTo(trunk, y - bend);
    path.quadTo(trunk, y, trunk + bend, y);
    path.lineTo(end, y);
    m_painter.drawPath(path);
}

void TreePainter::paintDots(int depth, const Range& range)
{
    const std::vector<int>& column = m_scene.layout().columns[std::size_t(depth)];
    const double left = m_scene.columnLeft(depth) * m_view.zoom + m_view.origin.x();
    const double width = std::max(2.0, 60 * m_view.zoom);
    double lastY = -10;
    for (int i = range.begin; i < range.end; ++i) {
        const int node = column[std::size_t(i)];
        const double y = device(m_scene.signOf(node)).y();
        const bool marked = node == m_view.selected || m_scene.labelOf(node).look.shape == Shape::Star;
        if (y - lastY < 1 && !marked) {
            continue;
        }
        lastY = y;
        const double height = std::max(1.0, 20 * m_view.zoom) * (marked ? 3 : 1);
        const Token token = node == m_view.selected ? Token::Accent : m_scene.labelOf(node).look.token;
        m_painter.fillRect(QRectF(left, y - height / 2, width, height), m_theme[token]);
    }
}

void TreePainter::paintNode(int node)
{
    const QRectF rect = device(m_scene.rectOf(node));
    const bool selected = node == m_view.selected;
    if (selected || node == m_view.hovered) {
        const double corner = 5 * m_view.zoom;
        m_painter.setPen(selected && m_view.focused ? QPen(m_theme[Token::Accent], 1.4) : QPen(Qt::NoPen));
        m_painter.setBrush(selected ? m_theme[Token::Selection] : m_theme[Token::Panel]);
        m_painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), corner, corner);
    }
    NodeLook look = m_scene.labelOf(node).look;
    look.pruned = m_nodes.outOfSearch(node);
    paintSign(m_painter, look, device(m_scene.signOf(node)),
              TreeScene::signRadius * std::min(m_view.zoom, 2.0) * (m_view.zoom < labelsFrom ? 1.3 : 1.0), m_theme);
    if (m_view.zoom >= labelsFrom) {
        paintLabel(node, rect);
        paintFold(node);
    }
}

void TreePainter::paintLabel(int node, const QRectF& rect)
{
    const TreeScene::Label& label = m_scene.labelOf(node);
    const NodeSummary& summary = m_nodes.at(node);
    const double zoom = m_view.zoom;
    double left = (m_scene.columnLeft(m_scene.layout().depth[std::size_t(node)]) + TreeScene::labelStart) * zoom +
                  m_view.origin.x();
    QFont main = summary.kind == NodeKind::Idea ? m_font : m_bold;
    main.setItalic(label.look.modelled && !label.look.figure.isEmpty());
    main.setStrikeOut(summary.pruned && summary.kind == NodeKind::Idea);
    const bool figure = !label.look.figure.isEmpty();
    const QString text = summary.kind == NodeKind::Idea ? label.look.title
                         : figure                       ? label.look.figure
                                                        : label.look.word;
    const Token word = label.look.token == Token::Best ? Token::Text : label.look.token;
    const Token colour = m_nodes.outOfSearch(node)                  ? Token::Muted
                         : summary.kind == NodeKind::Idea || figure ? Token::Text
                                                                    : word;
    drawText({left, rect.top(), label.mainWidth * zoom, rect.height()}, text, main, m_theme[colour]);
    if (!label.side.isEmpty() && zoom >= sideFrom) {
        left += (label.mainWidth + (label.mainWidth > 2 ? 8 : 0)) * zoom;
        drawText({left, rect.top(), label.sideWidth * zoom, rect.height()}, label.side, m_font, m_theme[Token::Muted]);
    }
}

void TreePainter::drawText(const QRectF& rect, const QString& text, const QFont& font, const QColor& colour)
{
    const QFontMetricsF metrics(font);
    const double slack = 4 * m_view.zoom; // letters do not shrink evenly with the zoom
    m_painter.setFont(font);
    m_painter.setPen(colour);
    const QString shown = metrics.horizontalAdvance(text) > rect.width() + slack
                              ? metrics.elidedText(text, Qt::ElideRight, rect.width() + slack)
                              : text;
    m_painter.drawText(
        QPointF(std::round(rect.left()), std::round(rect.center().y() + (metrics.ascent() - metrics.descent()) / 2)),
        shown);
}

void TreePainter::paintFold(int node)
{
    const QRectF stub = m_scene.foldRectOf(node);
    if (stub.isNull()) {
        return;
    }
    const QRectF rect = device(stub);
    m_painter.setPen(QPen(m_edge, 1));
    m_painter.setBrush(m_theme[Token::Panel]);
    m_painter.drawRoundedRect(rect, 4 * m_view.zoom, 4 * m_view.zoom);
    m_painter.setFont(m_font);
    m_painter.setPen(m_theme[Token::Muted]);
    m_painter.drawText(rect, Qt::AlignCenter,
                       QStringLiteral("+%1").arg(m_scene.layout().hiddenBelow[std::size_t(node)]));
}

} // namespace espalier
