// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/engine_bridge.h"

#include <QWidget>

class QLineEdit;
class QListWidget;
class QToolButton;

namespace espalier {

class Workbench;

/// What the engineer tells the search for good: hints that stand in every prompt, and bans: a sentence for the models
/// and, where it can be counted, a limit that the judge holds. Adding and taking away can be undone. Thread: GUI.
class StandingPanel : public QWidget
{
    Q_OBJECT
public:
    explicit StandingPanel(Workbench& bench, QWidget* parent = nullptr);

    QListWidget* hints() { return m_hints; }
    QListWidget* bans() { return m_bans; }
    void startHint(); ///< puts the cursor where one is written
    void startBan();

private:
    void refresh();
    void updateEnabled();
    EngineBridge::Answer takenFrom(const QList<QLineEdit*>& fields);
    void addHint();
    void removeHint();
    void addBan();
    void liftBan();

    Workbench& m_bench;
    QListWidget* m_hints;
    QListWidget* m_bans;
    QLineEdit* m_newHint;
    QLineEdit* m_banWords;
    QLineEdit* m_banLimit;
    QToolButton* m_removeHint;
    QToolButton* m_liftBan;
};

} // namespace espalier
