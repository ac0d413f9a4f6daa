// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/roofline_painter.h"

#include <QWidget>

namespace espalier {

class ThemeManager;

/// The roofline chart: log-log, painted by hand. Arrow keys walk over the points from low to high intensity, Return or
/// a click selects, I shows only the lineage, L changes the level. Thread: GUI.
class RooflineView : public QWidget
{
    Q_OBJECT
public:
    explicit RooflineView(ThemeManager& themes, QWidget* parent = nullptr);

    void setChart(RooflineChart chart);
    void setFocusOn(const RooflineFocus& focus);
    const RooflineChart& chart() const { return m_chart; }
    const RooflineFocus& focusOn() const { return m_focus; }
    const RooflineLayout& arranged() const;                     ///< for the widget's size; made when it is asked for
    std::optional<NodeId> current() const { return m_current; } ///< under the pointer or reached by keys

    QImage image(const QSize& size) const; ///< for PNG; without the card
    QByteArray svg(const QSize& size) const;
    QSize sizeHint() const override { return {520, 360}; }
    QSize minimumSizeHint() const override { return {260, 180}; }

signals:
    void nodeChosen(espalier::NodeId node);
    void isolationWanted(bool on);
    void levelWanted(int step); ///< to the next level

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void forgetLayout();
    void setCurrent(const PlacedPoint* placed);
    void walk(int step);
    void render(QPainter& painter, const QSizeF& size) const;

    ThemeManager& m_themes;
    RooflineChart m_chart;
    RooflineFocus m_focus;
    mutable std::optional<RooflineLayout> m_layout;
    std::optional<NodeId> m_current;
    QPointF m_currentAt;
};

} // namespace espalier
