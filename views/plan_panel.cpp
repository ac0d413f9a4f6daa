// SPDX-License-Identifier: GPL-3.0-only
#include "views/plan_panel.h"

#include "views/format.h"
#include "views/idea_editor.h"
#include "views/plan_delegate.h"
#include "views/plan_model.h"
#include "views/workbench.h"

#include <QItemSelectionModel>
#include <QLabel>
#include <QListView>
#include <QVBoxLayout>

namespace espalier {

PlanPanel::PlanPanel(Workbench& bench, QWidget* parent)
    : QWidget(parent), m_bench(bench), m_model(new PlanModel(bench, this)), m_delegate(new PlanDelegate(bench, this)),
      m_view(new QListView), m_why(new QLabel)
{
    m_view->setModel(m_model);
    m_view->setItemDelegate(m_delegate);
    m_view->setAccessibleName(tr("Plan"));
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->setEditTriggers(QAbstractItemView::NoEditTriggers); // open() sees to it that the words are there
    m_view->setDragDropMode(QAbstractItemView::DragDrop);
    m_view->setDefaultDropAction(Qt::MoveAction);
    m_view->setDropIndicatorShown(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_view, 1);
    m_why->setTextFormat(Qt::PlainText);
    m_why->setWordWrap(true);
    m_why->setContentsMargins(12, 8, 12, 8);
    layout->addWidget(m_why);

    connect(m_view, &QAbstractItemView::doubleClicked, this, &PlanPanel::open);
    connect(m_view, &QAbstractItemView::activated, this, &PlanPanel::open);
    connect(m_view, &QAbstractItemView::clicked, this, [this](const QModelIndex& index) {
        if (m_model->isNewIdea(index)) {
            open(index);
        }
    });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& now) {
        if (const auto node = m_model->nodeAt(now); node && !m_following && !m_model->isMoving()) {
            m_bench.select(*node);
        }
    });
    connect(m_view, &QWidget::customContextMenuRequested, this, [this](const QPoint& place) {
        if (m_model->nodeAt(m_view->indexAt(place))) {
            emit contextMenuWanted(m_view->viewport()->mapToGlobal(place));
        }
    });
    connect(
        m_delegate, &PlanDelegate::editingEnded, this, [this] { m_model->keep(std::nullopt); }, Qt::QueuedConnection);
    connect(&bench, &Workbench::detailChanged, this, [this](NodeId node) {
        if (m_editWhenThere == node && m_bench.detail(node)) {
            editIdea(node);
        }
    });
    connect(&bench, &Workbench::selectionChanged, this, &PlanPanel::followSelection);
    connect(m_model, &QAbstractItemModel::rowsInserted, this, &PlanPanel::followSelection);
    connect(m_model, &QAbstractItemModel::rowsRemoved, this, &PlanPanel::followSelection);
    for (const auto signal : {&Workbench::planChanged, &Workbench::sessionOpened, &Workbench::sessionClosed}) {
        connect(&bench, signal, this, &PlanPanel::sayWhyEmpty);
    }
    connect(&bench.nodes(), &NodeStore::statusChanged, this, &PlanPanel::sayWhyEmpty);
    sayWhyEmpty();
}

/// A plan without a step says why, and how it goes on.
void PlanPanel::sayWhyEmpty()
{
    const RunStatus& status = m_bench.nodes().status();
    const bool empty = m_bench.session() && m_bench.plan().steps.empty();
    const bool tells = !status.why.empty() && (status.state == RunState::Finished || status.state == RunState::Failed);
    const QString sentence =
        !m_bench.whyNotSearched().isEmpty() ? tr("A session that is only looked at plans nothing.")
        : m_bench.isSearching()             ? tr("Nothing is planned at the moment.")
        : tells ? tr("Nothing is planned: %1. Raise the limits (Ctrl+Shift+L), or write an idea above.")
                      .arg(format::text(status.why))
                : tr("No idea is open: Run (F5) asks the proposers for more, or write one above.");
    m_why->setText(empty ? sentence : QString());
    m_why->setVisible(empty);
}

IdeaEditor* PlanPanel::editor() const
{
    return m_delegate->editor();
}

void PlanPanel::open(const QModelIndex& index)
{
    if (m_model->isNewIdea(index)) {
        return writeIdea();
    }
    if (const auto node = m_model->nodeAt(index); node && (index.flags() & Qt::ItemIsEditable)) {
        editIdea(*node);
    }
}

void PlanPanel::editIdea(NodeId idea)
{
    m_editWhenThere.reset();
    if (!m_bench.detail(idea)) {
        m_editWhenThere = idea;
        return;
    }
    m_model->keep(idea);
    const QModelIndex index = m_model->indexOf(idea);
    if (!index.isValid() || !(index.flags() & Qt::ItemIsEditable) || m_view->isPersistentEditorOpen(index)) {
        return;
    }
    m_view->setCurrentIndex(index);
    m_delegate->makeRoom(index);
    m_view->doItemsLayout();
    m_view->scrollTo(index);
    m_view->edit(index);
}

void PlanPanel::writeIdea()
{
    if (!m_model->newIdeaParent() || !(m_model->newIdeaRow().flags() & Qt::ItemIsEditable)) {
        return;
    }
    const QModelIndex index = m_model->newIdeaRow();
    m_following = true; // where it goes is what is selected: that stays
    m_view->setCurrentIndex(index);
    m_following = false;
    m_delegate->makeRoom(index);
    m_view->doItemsLayout();
    m_view->scrollTo(index);
    m_view->edit(index);
}

void PlanPanel::followSelection()
{
    const auto selected = m_bench.selected();
    const QModelIndex index = selected ? m_model->indexOf(*selected) : QModelIndex();
    if (editor() || m_model->nodeAt(m_view->currentIndex()) == selected) {
        return;
    }
    m_following = true;
    m_view->setCurrentIndex(index);
    m_following = false;
}

} // namespace espalier
