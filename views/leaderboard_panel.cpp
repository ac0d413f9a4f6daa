// SPDX-License-Identifier: GPL-3.0-only
#include "views/leaderboard_panel.h"

#include "views/leaderboard_model.h"
#include "views/workbench.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

namespace {

constexpr int leastTitle = 170; ///< the names keep so much; figures that find no room beside them are scrolled to

} // namespace

/// Rows that hold every word; what has no figure in a column comes last in both orders.
class LeaderboardProxy : public QSortFilterProxyModel
{
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setWords(const QString& words)
    {
        m_words = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
        invalidateFilter();
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override
    {
        const QString text = sourceModel()->index(row, LeaderboardModel::Title, parent).data().toString() +
                             QLatin1Char(' ') +
                             sourceModel()->index(row, LeaderboardModel::FoundBy, parent).data().toString();
        return std::all_of(m_words.begin(), m_words.end(),
                           [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
    }
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override
    {
        const QVariant a = left.data(sortRole()), b = right.data(sortRole());
        if (a.isValid() != b.isValid()) {
            return a.isValid() == (sortOrder() == Qt::AscendingOrder);
        }
        return QSortFilterProxyModel::lessThan(left, right);
    }

private:
    QStringList m_words;
};

LeaderboardPanel::LeaderboardPanel(Workbench& bench, QWidget* parent)
    : QWidget(parent), m_bench(bench), m_model(new LeaderboardModel(bench, this)), m_shown(new LeaderboardProxy(this)),
      m_words(new QLineEdit), m_view(new QTableView)
{
    m_shown->setSourceModel(m_model);
    m_shown->setSortRole(LeaderboardModel::SortRole);
    m_words->setPlaceholderText(tr("Filter candidates"));
    m_words->setAccessibleName(tr("Filter candidates"));
    m_words->setClearButtonEnabled(true);
    m_view->setModel(m_shown);
    m_view->setAccessibleName(tr("Leaderboard"));
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setShowGrid(false);
    m_view->setWordWrap(false);
    m_view->setTextElideMode(Qt::ElideMiddle); // variants of a tuner differ at their ends
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->setTabKeyNavigation(false);
    m_view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    m_view->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_view->verticalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
    QHeaderView* head = m_view->horizontalHeader();
    head->setSectionResizeMode(QHeaderView::ResizeToContents);
    head->setSectionResizeMode(LeaderboardModel::Title, QHeaderView::Interactive);
    head->setHighlightSections(false);
    head->setSortIndicatorClearable(true); // the third click brings the ranks back
    head->setSortIndicator(-1, Qt::AscendingOrder);
    head->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->setSortingEnabled(true);
    m_view->verticalHeader()->setHighlightSections(false);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(8, 4, 8, 4);
    top->addWidget(m_words);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(m_view, 1);

    connect(m_words, &QLineEdit::textChanged, this, [this](const QString& words) { m_shown->setWords(words); });
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &LeaderboardPanel::updateColumns);
    const auto soon = qOverload<>(&QTimer::start);
    connect(head, &QWidget::customContextMenuRequested, this, &LeaderboardPanel::chooseColumns);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
        if (const auto node = m_model->nodeAt(m_shown->mapToSource(now)); node && !m_following) {
            m_bench.select(*node);
        }
    });
    connect(m_view, &QWidget::customContextMenuRequested, this, [this](const QPoint& place) {
        if (m_view->indexAt(place).isValid()) {
            emit contextMenuWanted(m_view->viewport()->mapToGlobal(place));
        }
    });
    for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved}) {
        connect(m_model, signal, &m_soon, soon);
    }
    connect(m_model, &QAbstractItemModel::modelReset, &m_soon, soon);
    connect(m_model, &QAbstractItemModel::dataChanged, &m_soon, soon);
    connect(&bench, &Workbench::selectionChanged, this, &LeaderboardPanel::followSelection);
    connect(head, &QHeaderView::sectionResized, this, [this](int column) {
        if (column != LeaderboardModel::Title) { // figures take what they need, names the rest
            shareWidth();
        }
    });
    updateColumns();
}

/// A column that has nothing to say takes no room.
void LeaderboardPanel::updateColumns()
{
    for (int column = LeaderboardModel::Title + 1; column < LeaderboardModel::columns; ++column) {
        m_view->setColumnHidden(column, m_hidden.contains(column) || !m_model->says(column));
    }
    m_view->verticalHeader()->viewport()->update(); // ranks move with what was placed elsewhere
    shareWidth();
}

void LeaderboardPanel::shareWidth()
{
    int others = 0;
    for (int column = LeaderboardModel::Title + 1; column < LeaderboardModel::columns; ++column) {
        others += m_view->isColumnHidden(column) ? 0 : m_view->columnWidth(column);
    }
    m_view->setColumnWidth(LeaderboardModel::Title, std::max(leastTitle, m_view->viewport()->width() - others));
}

void LeaderboardPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    shareWidth();
}

void LeaderboardPanel::chooseColumns(const QPoint& place)
{
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (int column = LeaderboardModel::Title + 1; column < LeaderboardModel::columns; ++column) {
        QAction* action =
            menu->addAction(m_model->headerData(column, Qt::Horizontal).toString(), this, [this, column](bool shown) {
                shown ? void(m_hidden.removeAll(column)) : m_hidden.append(column);
                updateColumns();
            });
        action->setCheckable(true);
        action->setChecked(!m_hidden.contains(column));
        action->setEnabled(m_model->says(column));
    }
    menu->popup(m_view->horizontalHeader()->mapToGlobal(place));
}

void LeaderboardPanel::followSelection()
{
    const auto selected = m_bench.selected();
    const QModelIndex index = selected ? m_shown->mapFromSource(m_model->indexOf(*selected)) : QModelIndex();
    m_following = true;
    if (index.isValid()) {
        m_view->selectionModel()->setCurrentIndex(index,
                                                  QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    } else {
        m_view->selectionModel()->clear();
    }
    m_following = false;
}

} // namespace espalier
