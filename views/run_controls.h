// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/session.h"

#include <QObject>

class QAction;
class QLabel;
class QToolBar;
class QToolButton;

namespace espalier {

class Workbench;

/// Run, pause, step, stop, limits and strategy, and what the search has spent and found. Four verbs that are never the
/// same thing; a disabled one says why. Thread: GUI.
class RunControls : public QObject
{
    Q_OBJECT
public:
    explicit RunControls(Workbench& bench, QObject* parent = nullptr);

    QAction* run() { return m_run; }
    QAction* pause() { return m_pause; }
    QAction* step() { return m_step; }
    QAction* stop() { return m_stop; }
    QAction* limits() { return m_limits; }
    QAction* strategy() { return m_strategy; }
    void addTo(QToolBar* bar);

private:
    void update();
    void updateIcons();
    void changeLimits();
    void changeStrategy();
    QString bestText() const;

    Workbench& m_bench;
    QAction* m_run;
    QAction* m_pause;
    QAction* m_step;
    QAction* m_stop;
    QAction* m_limits;
    QAction* m_strategy;
    QToolButton* m_budget = nullptr;
    QToolButton* m_searchedBy = nullptr;
    QLabel* m_best = nullptr;
    QLabel* m_device = nullptr;
};

} // namespace espalier
