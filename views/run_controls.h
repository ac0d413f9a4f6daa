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

/// Run, pause, step, stop, and what the search has spent and found. Four verbs that are never the same thing; a
/// disabled one says why. Thread: GUI.
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
    void addTo(QToolBar* bar);

private:
    void update();
    void updateIcons();
    void changeLimits();
    QString bestText() const;

    Workbench& m_bench;
    QAction* m_run;
    QAction* m_pause;
    QAction* m_step;
    QAction* m_stop;
    QAction* m_limits;
    QToolButton* m_budget = nullptr;
    QLabel* m_best = nullptr;
    QLabel* m_device = nullptr;
};

} // namespace espalier
