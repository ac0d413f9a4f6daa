// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QList>
#include <QObject>

class QAction;
class QMenu;
class QWidget;

namespace espalier {

class Workbench;

/// What one does to the selected node: pin, prune, copy, export, jump. Pins and prunes go through the undo stack; undo
/// steers back, it does not unmeasure what ran in between. The actions say why they are disabled. Thread: GUI.
class Steering : public QObject
{
    Q_OBJECT
public:
    explicit Steering(Workbench& bench, QObject* parent = nullptr);

    QAction* pin() { return m_pin; }
    QAction* prune() { return m_prune; }
    QAction* copy() { return m_copy; }
    QAction* overturn() { return m_overturn; }
    QAction* exportKernel() { return m_export; }
    QAction* toParent() { return m_toParent; }
    QAction* toBest() { return m_toBest; }
    /// Puts the single-key acts (P, X) where a node has the focus, and nowhere else: they are letters.
    void installOn(QWidget* widget);
    void popup(const QPoint& global, QWidget* parent);

signals:
    void exportWanted(espalier::NodeId node);
    void copied(const QString& title);

private:
    void update();
    void updateIcons();
    void togglePin();
    void togglePrune();
    void copySource();
    void askOverturn();

    Workbench& m_bench;
    QAction* m_pin;
    QAction* m_prune;
    QAction* m_overturn;
    QAction* m_copy;
    QAction* m_export;
    QAction* m_toParent;
    QAction* m_toBest;
    std::optional<NodeId> m_copyWhenThere; ///< its source was asked for
};

} // namespace espalier
