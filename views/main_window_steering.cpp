// SPDX-License-Identifier: GPL-3.0-only
// Where the acts of MainWindow's steering come from, and which part of the window does what they ask for.
#include "views/banner.h"
#include "views/cross_mode.h"
#include "views/leaderboard_panel.h"
#include "views/main_window.h"
#include "views/nsight.h"
#include "views/outline_panel.h"
#include "views/plan_model.h"
#include "views/plan_panel.h"
#include "views/steering.h"
#include "views/tree_panel.h"
#include "views/tree_view.h"
#include "views/workbench.h"

#include <QDockWidget>
#include <QFileDialog>
#include <QListView>
#include <QStatusBar>
#include <QTableView>
#include <QTreeView>

namespace espalier {

void MainWindow::connectSteering()
{
    for (QWidget* widget : {static_cast<QWidget*>(m_tree->view()), static_cast<QWidget*>(m_outline->view()),
                            static_cast<QWidget*>(m_leaderboard->view()), static_cast<QWidget*>(m_plan->view())}) {
        m_steering->installOn(widget);
    }
    const auto menu = [this](const QPoint& place) { m_steering->popup(place, this); };
    connect(m_tree->view(), &TreeView::contextMenuWanted, this, menu);
    connect(m_outline, &OutlinePanel::contextMenuWanted, this, menu);
    connect(m_leaderboard, &LeaderboardPanel::contextMenuWanted, this, menu);
    connect(m_plan, &PlanPanel::contextMenuWanted, this, menu);

    connect(m_tree->view(), &TreeView::kernelDropped, m_steering, &Steering::injectFile);
    connect(m_steering, &Steering::ideaWanted, this, [this] {
        showPanel(m_planDock);
        m_plan->writeIdea();
    });
    connect(m_steering, &Steering::editWanted, this, [this](NodeId idea) {
        showPanel(m_planDock);
        m_plan->editIdea(idea);
    });
    connect(m_steering, &Steering::exportWanted, this, [this](NodeId node) { exportNode(node.value); });
    connect(m_steering, &Steering::copied, this,
            [this](const QString& title) { statusBar()->showMessage(tr("Copied the source of %1").arg(title), 3000); });

    connect(m_steering, &Steering::crossWanted, m_crossing, &CrossMode::begin);
    connect(m_crossing, &CrossMode::said, this, [this](const QString& sentence) {
        m_tree->view()->setPointer(m_crossing->isOn() ? Qt::CrossCursor : Qt::ArrowCursor);
        sentence.isEmpty() ? m_banner->dismiss() : m_banner->say(Banner::Kind::Note, sentence);
    });
    connect(m_tree->view(), &TreeView::clicked, m_crossing, &CrossMode::choose);
    const auto chosen = [this] {
        if (const auto node = m_bench.selected()) {
            m_crossing->choose(*node);
        }
    };
    for (const QAbstractItemView* list :
         {static_cast<QAbstractItemView*>(m_outline->view()), static_cast<QAbstractItemView*>(m_leaderboard->view())}) {
        connect(list, &QAbstractItemView::clicked, this, chosen);
        connect(list, &QAbstractItemView::activated, this, chosen);
    }
    connect(m_tree->view(), &TreeView::activated, this, [this](NodeId node) {
        if (!m_crossing->choose(node)) {
            applyLayout(Layout::Compare);
        }
    });

    const auto nsight = [this] { m_steering->setNsight(m_nsight->whyNot()); };
    connect(m_nsight, &Nsight::changed, this, nsight);
    connect(m_steering, &Steering::nsightWanted, m_nsight, &Nsight::open);
    connect(m_nsight, &Nsight::said, this, [this](const QString& words) { statusBar()->showMessage(words, 15000); });
    connect(m_nsight, &Nsight::failed, this,
            [this](const QString& sentence) { m_banner->say(Banner::Kind::Problem, sentence); });
    nsight();
}

void MainWindow::showPanel(QDockWidget* dock)
{
    dock->show();
    dock->raise();
}

void MainWindow::exportNode(qlonglong node)
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Export the kernel to this folder"));
    if (!folder.isEmpty()) {
        m_bench.bridge().send(command::Export{NodeId{node}, "cuda", folder.toStdString()});
    }
}

} // namespace espalier
