// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"
#include "views/tree_scene.h"

#include <QAbstractScrollArea>
#include <QList>
#include <QPoint>
#include <optional>

namespace espalier {

class Workbench;

/// The search tree, painted by hand in one widget. Drag or the middle button pans, the wheel zooms at the cursor, keys
/// walk (see keyPressEvent). What is new never moves what is being read: the anchor, the selected node or else the one
/// nearest the middle, keeps its place on screen; only with Follow on the view goes to the newest work. The outline is
/// its twin for screen readers. Thread: GUI.
class TreeView : public QAbstractScrollArea
{
    Q_OBJECT
public:
    explicit TreeView(Workbench& bench, QWidget* parent = nullptr);

    double zoom() const { return m_zoom; }
    bool follows() const { return m_follow; }
    const TreeScene& scene() const { return m_scene; }
    QRectF deviceRectOf(int node) const; ///< in the viewport

public slots:
    void fit();
    void showBest();
    void setFollow(bool on);
    void setBestLineages(bool on);
    void zoomBy(double factor);
    void resetZoom();
    void toggleFold();
    void ensureVisible(int node);
    /// Over the tree while nothing is dragged.
    void setPointer(Qt::CursorShape shape);

signals:
    void contextMenuWanted(const QPoint& global);
    void clicked(espalier::NodeId node);   ///< after it was selected
    void activated(espalier::NodeId node); ///< double click, Return
    void kernelDropped(espalier::NodeId node, const QString& file);
    void zoomChanged();
    void foldingChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragMoveEvent(QDragMoveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void changeEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    static constexpr double smallest = 0.03, largest = 3, readable = 0.8;
    static constexpr int margin = 20;

    void handleUpdate(const QList<int>& added, const QList<int>& changed);
    void handleSelection();
    void settle(); ///< takes the first look at a session
    void look();   ///< all of the tree if that stays readable, else from the root to what is selected
    int anchorNode() const;
    QPointF origin() const;
    QPointF toScene(const QPointF& device) const;
    void setZoom(double zoom, const QPointF& fixed);
    void updateScrollBars();
    void withAnchor(const std::function<void()>& change);
    bool zoomByKey(int key);  ///< with Ctrl
    void walk(int direction); ///< up or down in the column
    void walkTo(int node);
    void setHovered(int node);
    QString cardFor(int node) const;
    void foldNode(int node);

    Workbench& m_bench;
    TreeScene m_scene;
    double m_zoom = 1;
    bool m_follow = false, m_settled = false, m_panning = false;
    bool m_touched = false; ///< somebody panned or zoomed: the first look is over
    QPoint m_pressed, m_lastMouse;
    int m_hovered = -1;
    Qt::CursorShape m_cursor = Qt::ArrowCursor;
};

} // namespace espalier
