// SPDX-License-Identifier: GPL-3.0-only
#include "views/outline_panel.h"

#include "views/outline_model.h"
#include "views/workbench.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QTreeView>

namespace espalier {

namespace {

QToolButton* toggle(const QString& text, const QString& tip)
{
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(tip);
    button->setCheckable(true);
    button->setAutoRaise(true);
    return button;
}

} // namespace

OutlinePanel::OutlinePanel(Workbench& bench, QWidget* parent)
    : QWidget(parent), m_bench(bench), m_model(new OutlineModel(bench, this)), m_view(new QTreeView),
      m_words(new QLineEdit), m_passed(toggle(tr("Passed"), tr("Only what passed, and the way to it"))),
      m_pruned(toggle(tr("Hide pruned"), tr("Leave out pruned branches"))), m_count(new QLabel)
{
    m_words->setPlaceholderText(tr("Search nodes"));
    m_words->setClearButtonEnabled(true);
    m_words->setAccessibleName(tr("Search nodes"));
    m_view->setModel(m_model);
    m_view->setAccessibleName(tr("Outline of the search"));
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setUniformRowHeights(true);
    m_view->setAllColumnsShowFocus(true);
    m_view->setIndentation(8); // ideas and candidates in turn make deep trees
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->header()->setStretchLastSection(false);
    m_view->header()->setSectionResizeMode(OutlineModel::Title, QHeaderView::Stretch);
    m_view->header()->setSectionResizeMode(OutlineModel::Figure, QHeaderView::ResizeToContents);

    auto* filters = new QHBoxLayout;
    filters->setContentsMargins(8, 4, 8, 4);
    filters->setSpacing(4);
    filters->addWidget(m_words, 1);
    filters->addWidget(m_passed);
    filters->addWidget(m_pruned);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(filters);
    layout->addWidget(m_view, 1);
    m_count->setContentsMargins(8, 2, 8, 4);
    layout->addWidget(m_count);
    m_count->hide();

    connect(m_words, &QLineEdit::textChanged, this, &OutlinePanel::applyFilter);
    connect(m_passed, &QToolButton::toggled, this, &OutlinePanel::applyFilter);
    connect(m_pruned, &QToolButton::toggled, this, &OutlinePanel::applyFilter);
    connect(m_model, &OutlineModel::matchesChanged, this, [this] {
        m_count->setText(tr("%1 of %2 nodes match").arg(m_model->matches()).arg(m_bench.nodes().count()));
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        if (!m_filtering) {
            m_view->expandAll();
            followSelection();
        }
    });
    connect(m_model, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex& above) {
        m_view->expand(above); // new work is seen without a click; what a person closed above it stays closed
    });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& now) {
        if (const auto node = m_model->nodeAt(now); node && !m_filtering) {
            m_bench.select(*node);
        }
    });
    connect(m_view, &QWidget::customContextMenuRequested, this, [this](const QPoint& place) {
        if (m_view->indexAt(place).isValid()) {
            emit contextMenuWanted(m_view->viewport()->mapToGlobal(place));
        }
    });
    connect(&bench, &Workbench::selectionChanged, this, &OutlinePanel::followSelection);
}

/// The model resets once and the view is opened again afterwards: never a filter under an expanded view.
void OutlinePanel::applyFilter()
{
    const OutlineFilter filter{m_words->text(), m_passed->isChecked(), m_pruned->isChecked()};
    m_filtering = true;
    m_model->setFilter(filter);
    m_view->expandAll();
    m_filtering = false;
    m_count->setVisible(filter.isActive());
    followSelection();
}

void OutlinePanel::followSelection()
{
    const auto selected = m_bench.selected();
    const QModelIndex index = selected ? m_model->indexOf(*selected) : QModelIndex();
    if (m_model->nodeAt(m_view->currentIndex()) == selected) {
        return;
    }
    m_filtering = true;
    m_view->selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    m_filtering = false;
    if (index.isValid()) {
        m_view->scrollTo(index);
    }
}

void OutlinePanel::startSearch()
{
    m_words->setFocus();
    m_words->selectAll();
}

} // namespace espalier
