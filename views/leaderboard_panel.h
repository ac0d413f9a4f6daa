// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QPoint>
#include <QTableView>

namespace espalier {

class LeaderboardModel;
class Workbench;

/// The passed candidates, fastest first. Thread: GUI.
class LeaderboardPanel : public QTableView
{
    Q_OBJECT
public:
    explicit LeaderboardPanel(Workbench& bench, QWidget* parent = nullptr);

signals:
    void contextMenuWanted(const QPoint& global);

private:
    void followSelection();
    Workbench& m_bench;
    LeaderboardModel* m_model;
    bool m_following = false;
};

} // namespace espalier
