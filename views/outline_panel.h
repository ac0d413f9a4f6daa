// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QPoint>
#include <QWidget>

class QLabel;
class QLineEdit;
class QToolButton;
class QTreeView;

namespace espalier {

class OutlineModel;
class Workbench;

/// Search field, two filters and the outline. Follows the common selection without ever scrolling on its own news.
/// Thread: GUI.
class OutlinePanel : public QWidget
{
    Q_OBJECT
public:
    explicit OutlinePanel(Workbench& bench, QWidget* parent = nullptr);
    QTreeView* view() { return m_view; }
    void startSearch();

signals:
    void contextMenuWanted(const QPoint& global);

private:
    void applyFilter();
    void followSelection();

    Workbench& m_bench;
    OutlineModel* m_model;
    QTreeView* m_view;
    QLineEdit* m_words;
    QToolButton* m_passed;
    QToolButton* m_pruned;
    QLabel* m_count;
    bool m_filtering = false;
};

} // namespace espalier
