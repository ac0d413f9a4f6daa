// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QList>
#include <QPoint>
#include <QTimer>
#include <QWidget>

class QLineEdit;
class QTableView;

namespace espalier {

class LeaderboardModel;
class LeaderboardProxy;
class Workbench;

/// The passed candidates, the search's best first; sorted by any column, filtered by words. Thread: GUI.
class LeaderboardPanel : public QWidget
{
    Q_OBJECT
public:
    explicit LeaderboardPanel(Workbench& bench, QWidget* parent = nullptr);
    QTableView* view() { return m_view; }

signals:
    void contextMenuWanted(const QPoint& global);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void followSelection();
    void updateColumns();
    void shareWidth();
    void chooseColumns(const QPoint& place);

    Workbench& m_bench;
    LeaderboardModel* m_model;
    LeaderboardProxy* m_shown;
    QLineEdit* m_words;
    QTableView* m_view;
    QList<int> m_hidden; ///< columns that the reader has put away
    QTimer m_soon;       ///< columns are looked at once a turn, not for every row that changes
    bool m_following = false;
};

} // namespace espalier
