// SPDX-License-Identifier: GPL-3.0-only
#include "views/tree_view.h"

#include "views/format.h"
#include "views/sentence.h"
#include "views/tree_painter.h"
#include "views/workbench.h"

#include <QApplication>
#include <QEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace espalier {

TreeView::TreeView(Workbench& bench, QWidget* parent)
    : QAbstractScrollArea(parent), m_bench(bench), m_scene(bench.nodes())
{
    setAccessibleName(tr("Search tree"));
    setAccessibleDescription(tr("A drawing of the search; the outline shows the same nodes as a list."));
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    viewport()->setMouseTracking(true);
    setAcceptDrops(true);
    viewport()->setAcceptDrops(true);
    m_scene.setFont(font());
    connect(&bench.nodes(), &NodeStore::updated, this, &TreeView::handleUpdate);
    connect(&bench.nodes(), &NodeStore::cleared, this, [this] {
        m_settled = false;
        m_hovered = -1;
        m_scene.fold() = TreeFold();
        m_scene.reset();
        updateScrollBars();
        viewport()->update();
    });
    connect(&bench, &Workbench::selectionChanged, this, &TreeView::handleSelection);
    connect(&bench.themes(), &ThemeManager::themeChanged, viewport(), qOverload<>(&QWidget::update));
}

QPointF TreeView::origin() const
{
    return {double(-horizontalScrollBar()->value()), double(-verticalScrollBar()->value())};
}

QPointF TreeView::toScene(const QPointF& device) const
{
    return (device - origin()) / m_zoom;
}

QRectF TreeView::deviceRectOf(int node) const
{
    const QRectF rect = m_scene.rectOf(node);
    return {rect.topLeft() * m_zoom + origin(), rect.size() * m_zoom};
}

void TreeView::updateScrollBars()
{
    const QSizeF content = m_scene.size() * m_zoom;
    const auto set = [](QScrollBar* bar, double length, int page) {
        bar->setRange(-margin, std::max(-margin, int(std::ceil(length)) + margin - page));
        bar->setPageStep(page);
        bar->setSingleStep(int(TreeScene::rowHeight));
    };
    set(horizontalScrollBar(), content.width(), viewport()->width());
    set(verticalScrollBar(), content.height(), viewport()->height());
}

void TreeView::paintEvent(QPaintEvent* event)
{
    QPainter painter(viewport());
    painter.fillRect(event->rect(), m_bench.theme()[Token::Background]);
    TreePainter(painter, m_scene, m_bench.nodes(), m_bench.theme(),
                {m_zoom, origin(), QRectF(event->rect()), m_bench.selectedIndex(), m_hovered, hasFocus()})
        .paint();
}

void TreeView::resizeEvent(QResizeEvent* event)
{
    const int chosen = m_bench.selectedIndex();
    const bool seen = m_scene.isVisible(chosen) && QRectF(QPointF(), event->oldSize()).intersects(deviceRectOf(chosen));
    updateScrollBars();
    settle();
    if (!m_touched) {
        look(); // the docks take their room after the first session has come
    } else if (seen) {
        ensureVisible(chosen);
    }
}

void TreeView::settle()
{
    if (m_settled || m_bench.nodes().count() == 0) {
        return;
    }
    m_settled = true;
    if (m_bench.nodes().count() >= TreeFold::bigTree) {
        setBestLineages(true);
    }
    look();
}

void TreeView::look()
{
    fit();
    if (m_zoom < readable) {
        setZoom(readable, {});
        horizontalScrollBar()->setValue(-margin);
        verticalScrollBar()->setValue(-margin);
        ensureVisible(m_bench.selectedIndex());
    }
    m_touched = false;
}

int TreeView::anchorNode() const
{
    const QRectF seen = viewport()->rect();
    if (const int chosen = m_bench.selectedIndex();
        m_scene.isVisible(chosen) && seen.intersects(deviceRectOf(chosen))) {
        return chosen;
    }
    int nearest = -1;
    double distance = 1e30;
    for (const std::vector<int>& column : m_scene.layout().columns) {
        for (const int node : column) {
            const QPointF way = deviceRectOf(node).center() - seen.center();
            if (const double d = std::hypot(way.x(), way.y()); d < distance) {
                distance = d;
                nearest = node;
            }
        }
    }
    return nearest;
}

void TreeView::withAnchor(const std::function<void()>& change)
{
    const int anchor = anchorNode();
    const QPointF before = anchor >= 0 ? deviceRectOf(anchor).topLeft() : QPointF();
    change();
    updateScrollBars();
    if (m_scene.isVisible(anchor)) {
        const QPointF moved = deviceRectOf(anchor).topLeft() - before;
        horizontalScrollBar()->setValue(horizontalScrollBar()->value() + int(std::lround(moved.x())));
        verticalScrollBar()->setValue(verticalScrollBar()->value() + int(std::lround(moved.y())));
    }
    viewport()->update();
}

void TreeView::handleUpdate(const QList<int>& added, const QList<int>& changed)
{
    withAnchor([&] { m_scene.update(added, changed); });
    settle();
    if (m_follow) {
        const QList<int>& newest = added.isEmpty() ? changed : added;
        if (!newest.isEmpty()) {
            ensureVisible(newest.back());
        }
    }
}

void TreeView::handleSelection()
{
    const int node = m_bench.selectedIndex();
    if (node >= 0) {
        setAccessibleDescription(spokenText(m_bench.nodes().at(node), node == m_bench.nodes().bestIndex()));
        if (!m_scene.isVisible(node)) {
            withAnchor([&] {
                m_scene.fold().reveal(m_bench.nodes(), node);
                m_scene.relayout();
            });
        }
        ensureVisible(node);
    }
    viewport()->update();
}

void TreeView::ensureVisible(int node)
{
    if (!m_scene.isVisible(node)) {
        return;
    }
    const QRectF rect = deviceRectOf(node).adjusted(-margin, -margin, margin, margin);
    const auto shift = [](double low, double high, double size) {
        return low < 0 ? low : high > size ? std::min(high - size, low) : 0.0;
    };
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() +
                                    int(shift(rect.left(), rect.right(), viewport()->width())));
    verticalScrollBar()->setValue(verticalScrollBar()->value() +
                                  int(shift(rect.top(), rect.bottom(), viewport()->height())));
}

void TreeView::setZoom(double zoom, const QPointF& fixed)
{
    zoom = std::clamp(zoom, smallest, largest);
    const QPointF kept = toScene(fixed);
    m_zoom = zoom;
    m_touched = true;
    updateScrollBars();
    horizontalScrollBar()->setValue(int(std::lround(kept.x() * zoom - fixed.x())));
    verticalScrollBar()->setValue(int(std::lround(kept.y() * zoom - fixed.y())));
    viewport()->update();
    emit zoomChanged();
}

void TreeView::zoomBy(double factor)
{
    setZoom(m_zoom * factor, QRectF(viewport()->rect()).center());
}
void TreeView::resetZoom()
{
    setZoom(1, QRectF(viewport()->rect()).center());
}

void TreeView::fit()
{
    const QSizeF content = m_scene.size();
    if (content.isEmpty()) {
        return;
    }
    const double zoom = std::min((viewport()->width() - 2.0 * margin) / content.width(),
                                 (viewport()->height() - 2.0 * margin) / content.height());
    setZoom(std::min(zoom, 1.0), {});
    horizontalScrollBar()->setValue(-margin);
    verticalScrollBar()->setValue(-margin);
}

void TreeView::showBest()
{
    if (const int best = m_bench.nodes().bestIndex(); best >= 0) {
        m_bench.select(m_bench.nodes().at(best).id);
        handleSelection();
    }
}

void TreeView::setFollow(bool on)
{
    m_follow = on;
}

void TreeView::setBestLineages(bool on)
{
    if (m_scene.fold().bestLineages() == on) {
        return;
    }
    withAnchor([&] {
        m_scene.fold().setBestLineages(on);
        m_scene.relayout();
    });
    emit foldingChanged();
}

void TreeView::foldNode(int node)
{
    const auto& children = m_bench.nodes().childrenOf(node);
    if (children.empty()) {
        return;
    }
    const bool hidden =
        std::any_of(children.begin(), children.end(), [this](int child) { return !m_scene.isVisible(child); });
    withAnchor([&] {
        m_scene.fold().toggle(m_bench.nodes().at(node).id, hidden);
        m_scene.relayout();
    });
}

void TreeView::toggleFold()
{
    if (const int node = m_bench.selectedIndex(); node >= 0) {
        foldNode(node);
    }
}

void TreeView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange) {
        m_scene.setFont(font());
        updateScrollBars();
    }
    QAbstractScrollArea::changeEvent(event);
}

void TreeView::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void TreeView::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

} // namespace espalier
