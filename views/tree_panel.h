// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QWidget>

class QLabel;
class QToolButton;

namespace espalier {

class TreeView;
class Workbench;

/// The tree with its own small bar: best, fit, zoom, best lineages, Follow, and the legend of signs. Thread: GUI.
class TreePanel : public QWidget
{
    Q_OBJECT
public:
    explicit TreePanel(Workbench& bench, QWidget* parent = nullptr);
    TreeView* view() { return m_view; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void updateBar();
    void updateIcons();

    Workbench& m_bench;
    TreeView* m_view;
    QLabel* m_what;
    QLabel* m_zoom;
    QToolButton* m_best;
    QToolButton* m_fit;
    QToolButton* m_lineages;
    QToolButton* m_follow;
};

} // namespace espalier
