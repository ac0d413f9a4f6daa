// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"
#include "views/steering_reasons.h"

#include <QObject>
#include <array>
#include <optional>

class QAction;
class QMenu;
class QWidget;

namespace espalier {

class Workbench;

/// What one does to the selected node, as actions for menus, keys and the palette. Whatever can be taken back goes
/// through the undo stack. The actions say why they are disabled. What needs another part of the window is asked for by
/// a signal. Thread: GUI.
class Steering : public QObject
{
    Q_OBJECT
public:
    explicit Steering(Workbench& bench, QObject* parent = nullptr);

    QAction* action(Act act) const { return m_actions[std::size_t(act)]; }
    QAction* pin() { return action(Act::Pin); }
    QAction* prune() { return action(Act::Prune); }
    QAction* copy() { return action(Act::Copy); }
    QAction* exportKernel() { return action(Act::Export); }
    /// Why Nsight Compute cannot be opened on this machine now; empty: it can.
    void setNsight(const QString& whyNot);
    /// Puts the single-key acts (P, X, I, …) where a node has the focus, and nowhere else: they are letters.
    void installOn(QWidget* widget);
    /// Everything, grouped; for the menu bar and the context menu.
    void fill(QMenu* menu) const;
    void popup(const QPoint& global, QWidget* parent);
    /// Asks for an own kernel under the node, with this file in the editor.
    void injectFile(NodeId parent, const QString& file) { askKernel(parent, file); }

signals:
    void ideaWanted(); ///< at the selected node
    void editWanted(espalier::NodeId idea);
    void crossWanted(espalier::NodeId first);
    void nsightWanted(espalier::NodeId node);
    void exportWanted(espalier::NodeId node);
    void copied(const QString& title);

private:
    void update();
    void updateIcons();
    void perform(Act act);
    void performOn(const NodeSummary& node, Act act);
    void copySource();
    void askOverturn(const NodeSummary& node);
    void askBranchBudget(const NodeSummary& node);
    void askKernel(std::optional<NodeId> parent, const QString& file = {});

    Workbench& m_bench;
    std::array<QAction*, std::size_t(Act::Count)> m_actions{};
    QString m_noNsight;
    std::optional<NodeId> m_copyWhenThere; ///< its source was asked for
};

} // namespace espalier
