// SPDX-License-Identifier: GPL-3.0-only
#include "views/leaderboard_panel.h"

#include "views/leaderboard_model.h"
#include "views/workbench.h"

#include <QHeaderView>

namespace espalier {

LeaderboardPanel::LeaderboardPanel(Workbench& bench, QWidget* parent)
    : QTableView(parent), m_bench(bench), m_model(new LeaderboardModel(bench, this))
{
    setModel(m_model);
    setAccessibleName(tr("Leaderboard"));
    setFrameShape(QFrame::NoFrame);
    setShowGrid(false);
    setWordWrap(false);
    setSelectionBehavior(SelectRows);
    setSelectionMode(SingleSelection);
    setContextMenuPolicy(Qt::CustomContextMenu);
    setTabKeyNavigation(false);
    setMinimumWidth(280); // below it the names of the candidates give way to their figures
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setSectionResizeMode(LeaderboardModel::Title, QHeaderView::Stretch);
    for (const int column :
         {LeaderboardModel::Incumbent, LeaderboardModel::Speedup, LeaderboardModel::Time, LeaderboardModel::FoundBy}) {
        horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    }
    horizontalHeader()->setHighlightSections(false);
    verticalHeader()->setHighlightSections(false);

    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (const auto node = m_model->nodeAt(now); node && !m_following) {
            m_bench.select(*node);
        }
    });
    connect(this, &QWidget::customContextMenuRequested, this, [this](const QPoint& place) {
        if (indexAt(place).isValid()) {
            emit contextMenuWanted(viewport()->mapToGlobal(place));
        }
    });
    const auto showIncumbent = [this] { setColumnHidden(LeaderboardModel::Incumbent, !m_model->hasIncumbent()); };
    for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved}) {
        connect(m_model, signal, this, showIncumbent);
    }
    connect(m_model, &QAbstractItemModel::modelReset, this, showIncumbent);
    connect(m_model, &QAbstractItemModel::dataChanged, this, showIncumbent);
    showIncumbent();
    connect(&bench, &Workbench::selectionChanged, this, &LeaderboardPanel::followSelection);
}

void LeaderboardPanel::followSelection()
{
    const auto selected = m_bench.selected();
    const QModelIndex index = selected ? m_model->indexOf(*selected) : QModelIndex();
    m_following = true;
    if (index.isValid()) {
        selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    } else {
        selectionModel()->clear();
    }
    m_following = false;
}

} // namespace espalier
