// SPDX-License-Identifier: GPL-3.0-only
// The mouse, keyboard and hover half of TreeView.
#include "views/dropped_file.h"
#include "views/format.h"
#include "views/sentence.h"
#include "views/tree_view.h"
#include "views/workbench.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

namespace espalier {

void TreeView::mousePressEvent(QMouseEvent* event)
{
    m_pressed = m_lastMouse = event->pos();
    m_panning = event->button() == Qt::MiddleButton;
    const int node = m_scene.nodeAt(toScene(event->position()));
    if (event->button() == Qt::LeftButton && node >= 0) {
        if (m_scene.foldRectOf(node).contains(toScene(event->position()))) {
            foldNode(node);
        } else {
            const NodeId id = m_bench.nodes().at(node).id;
            m_bench.select(id);
            emit clicked(id);
        }
    }
}

void TreeView::mouseMoveEvent(QMouseEvent* event)
{
    const bool held = event->buttons() & (Qt::LeftButton | Qt::MiddleButton);
    if (held && !m_panning && (event->pos() - m_pressed).manhattanLength() >= QApplication::startDragDistance()) {
        m_panning = true;
    }
    if (held && m_panning) {
        const QPoint way = event->pos() - m_lastMouse;
        m_touched = true;
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() - way.x());
        verticalScrollBar()->setValue(verticalScrollBar()->value() - way.y());
        viewport()->setCursor(Qt::ClosedHandCursor);
    } else if (!held) {
        setHovered(m_scene.nodeAt(toScene(event->position())));
    }
    m_lastMouse = event->pos();
}

void TreeView::mouseReleaseEvent(QMouseEvent*)
{
    if (std::exchange(m_panning, false)) {
        viewport()->setCursor(m_cursor);
    }
}

void TreeView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const int node = m_scene.nodeAt(toScene(event->position())); node >= 0) {
        emit activated(m_bench.nodes().at(node).id);
    }
}

/// A kernel goes under the node that it is dropped on. Whatever else is dragged is the window's.
void TreeView::dragEnterEvent(QDragEnterEvent* event)
{
    const bool kernel = droppedFile(*event->mimeData()).kind == DroppedFile::Kind::Kernel;
    event->setAccepted(kernel && m_bench.whyNotSearched().isEmpty());
}

void TreeView::dragMoveEvent(QDragMoveEvent* event)
{
    const int node = m_scene.nodeAt(toScene(event->position()));
    setHovered(node);
    event->setAccepted(node >= 0);
}

void TreeView::dropEvent(QDropEvent* event)
{
    if (const int node = m_scene.nodeAt(toScene(event->position())); node >= 0) {
        event->acceptProposedAction();
        emit kernelDropped(m_bench.nodes().at(node).id, droppedFile(*event->mimeData()).file);
    }
}

void TreeView::setPointer(Qt::CursorShape shape)
{
    m_cursor = shape;
    viewport()->setCursor(shape);
}

void TreeView::wheelEvent(QWheelEvent* event)
{
    const bool touchpad = !event->pixelDelta().isNull() && !(event->modifiers() & Qt::ControlModifier);
    if (touchpad || event->modifiers() & Qt::ShiftModifier) {
        m_touched = true;
        const QPoint way =
            touchpad ? event->pixelDelta() : QPoint(event->angleDelta().y() + event->angleDelta().x(), 0);
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() - way.x());
        verticalScrollBar()->setValue(verticalScrollBar()->value() - way.y());
    } else {
        setZoom(m_zoom * std::pow(1.0015, event->angleDelta().y()), event->position());
    }
    event->accept();
}

void TreeView::walkTo(int node)
{
    if (m_scene.isVisible(node)) {
        m_bench.select(m_bench.nodes().at(node).id);
    }
}

void TreeView::walk(int direction)
{
    const int node = m_bench.selectedIndex();
    if (!m_scene.isVisible(node)) {
        return;
    }
    const std::vector<int>& column = m_scene.layout().columns[std::size_t(m_scene.layout().depth[std::size_t(node)])];
    const auto next = std::find(column.begin(), column.end(), node) - column.begin() + direction;
    if (next >= 0 && next < std::ptrdiff_t(column.size())) {
        walkTo(column[std::size_t(next)]);
    }
}

bool TreeView::zoomByKey(int key)
{
    switch (key) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoomBy(1.25);
        return true;
    case Qt::Key_Minus:
        zoomBy(0.8);
        return true;
    case Qt::Key_0:
        resetZoom();
        return true;
    default:
        return false;
    }
}

void TreeView::keyPressEvent(QKeyEvent* event)
{
    const NodeStore& nodes = m_bench.nodes();
    const int node = m_bench.selectedIndex();
    if (node < 0 && nodes.count() > 0 && event->key() >= Qt::Key_Left && event->key() <= Qt::Key_Down) {
        return walkTo(nodes.roots().front());
    }
    if (event->modifiers() & Qt::ControlModifier && zoomByKey(event->key())) {
        return;
    }
    switch (event->key()) {
    case Qt::Key_Up:
        return walk(-1);
    case Qt::Key_Down:
        return walk(1);
    case Qt::Key_Left:
        return node >= 0 ? walkTo(nodes.parentOf(node)) : void();
    case Qt::Key_Right:
        if (node >= 0 && !nodes.childrenOf(node).empty()) {
            if (m_scene.layout().hiddenBelow[std::size_t(node)] > 0) {
                foldNode(node);
            }
            walkTo(nodes.childrenOf(node).front());
        }
        return;
    case Qt::Key_Home:
        return nodes.count() > 0 ? walkTo(nodes.roots().front()) : void();
    case Qt::Key_0:
        return resetZoom();
    case Qt::Key_F:
        return fit();
    case Qt::Key_B:
        return showBest();
    case Qt::Key_Space:
        return toggleFold();
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (node >= 0) {
            emit activated(nodes.at(node).id);
        }
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void TreeView::contextMenuEvent(QContextMenuEvent* event)
{
    QPoint place = event->globalPos();
    if (event->reason() == QContextMenuEvent::Mouse) {
        const int node = m_scene.nodeAt(toScene(viewport()->mapFromGlobal(event->globalPos())));
        if (node < 0) {
            return;
        }
        m_bench.select(m_bench.nodes().at(node).id);
    } else if (m_scene.isVisible(m_bench.selectedIndex())) {
        place = viewport()->mapToGlobal(deviceRectOf(m_bench.selectedIndex()).bottomLeft().toPoint());
    }
    emit contextMenuWanted(place);
}

void TreeView::setHovered(int node)
{
    if (node != m_hovered) {
        m_hovered = node;
        viewport()->update();
    }
}

/// The hover card: what the node is, the inspector's sentence, and the figures behind it.
QString TreeView::cardFor(int node) const
{
    const NodeSummary& summary = m_bench.nodes().at(node);
    const IdeaResult result = summary.kind == NodeKind::Idea ? m_bench.nodes().resultOf(node) : IdeaResult();
    QStringList facts{QStringLiteral("%1 %2").arg(format::kind(summary.kind)).arg(summary.id.value)};
    if (!summary.proposer.empty()) {
        facts += tr("by %1").arg(format::text(summary.proposer));
    }
    if (summary.timeUs) {
        facts += format::time(summary.timeUs->value, summary.provenance.value_or(Provenance::Model));
    }
    if (summary.pinned) {
        facts += tr("pinned");
    }
    if (summary.pruned) {
        facts += tr("pruned");
    }
    if (!summary.banned.empty()) {
        facts += tr("banned");
    }
    return QStringLiteral("<div style='width:300px'><b>%1</b><br/>%2<br/><span style='color:%3'>%4</span></div>")
        .arg(format::text(summary.title).toHtmlEscaped(), sentenceFor(summary, result).toHtmlEscaped(),
             m_bench.theme()[Token::Muted].name(), facts.join(QStringLiteral(" · ")).toHtmlEscaped());
}

bool TreeView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int node = m_scene.nodeAt(toScene(help->pos()));
        if (node < 0) {
            QToolTip::hideText();
        } else {
            QToolTip::showText(help->globalPos(), cardFor(node), viewport(), deviceRectOf(node).toRect());
        }
        return true;
    }
    if (event->type() == QEvent::Leave) {
        setHovered(-1);
    }
    return QAbstractScrollArea::viewportEvent(event);
}

} // namespace espalier
