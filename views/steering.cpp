// SPDX-License-Identifier: GPL-3.0-only
#include "views/steering.h"

#include "views/format.h"
#include "views/sign_icon.h"
#include "views/workbench.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QInputDialog>
#include <QMenu>
#include <QUndoCommand>

namespace espalier {

namespace {

/// Pins or prunes; the node changes when the engine says so, not when the command is sent.
class SteerCommand : public QUndoCommand
{
public:
    enum class Act { Pin, Prune };
    SteerCommand(Workbench& bench, Act act, NodeId node, bool on) : m_bench(bench), m_act(act), m_node(node), m_on(on)
    {
        const QString words = act == Act::Pin ? (on ? Steering::tr("Pin node %1") : Steering::tr("Unpin node %1"))
                                              : (on ? Steering::tr("Prune node %1") : Steering::tr("Restore node %1"));
        setText(words.arg(node.value));
    }
    void redo() override { send(m_on); }
    void undo() override { send(!m_on); }

private:
    void send(bool on)
    {
        if (m_act == Act::Pin) {
            m_bench.bridge().send(command::SetPinned{m_node, on});
        } else {
            m_bench.bridge().send(command::SetPruned{m_node, on});
        }
    }
    Workbench& m_bench;
    Act m_act;
    NodeId m_node;
    bool m_on;
};

} // namespace

Steering::Steering(Workbench& bench, QObject* parent)
    : QObject(parent), m_bench(bench), m_pin(new QAction(this)), m_prune(new QAction(this)),
      m_overturn(new QAction(tr("Overturn verdict…"), this)), m_copy(new QAction(tr("Copy source"), this)), m_export(new QAction(tr("Export kernel…"), this)),
      m_toParent(new QAction(tr("Go to parent candidate"), this)), m_toBest(new QAction(tr("Go to best"), this))
{
    m_pin->setShortcut(QKeySequence(Qt::Key_P));
    m_prune->setShortcut(QKeySequence(Qt::Key_X));
    for (QAction* action : {m_pin, m_prune}) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    }
    m_copy->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C));
    m_export->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_E));
    m_toParent->setShortcut(QKeySequence(Qt::ALT | Qt::Key_Up));
    m_toBest->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_B));
    connect(m_pin, &QAction::triggered, this, &Steering::togglePin);
    connect(m_prune, &QAction::triggered, this, &Steering::togglePrune);
    connect(m_overturn, &QAction::triggered, this, &Steering::askOverturn);
    connect(m_copy, &QAction::triggered, this, &Steering::copySource);
    connect(m_export, &QAction::triggered, this, [this] {
        if (const auto node = m_bench.selected()) {
            emit exportWanted(*node);
        }
    });
    connect(m_toParent, &QAction::triggered, this, [this] {
        if (const int above = m_bench.nodes().parentCandidateOf(m_bench.selectedIndex()); above >= 0) {
            m_bench.select(m_bench.nodes().at(above).id);
        }
    });
    connect(m_toBest, &QAction::triggered, this, [this] { m_bench.select(m_bench.nodes().status().best); });
    connect(&bench, &Workbench::selectionChanged, this, &Steering::update);
    connect(&bench.nodes(), &NodeStore::updated, this, &Steering::update);
    connect(&bench.nodes(), &NodeStore::statusChanged, this, &Steering::update);
    connect(&bench.themes(), &ThemeManager::themeChanged, this, &Steering::updateIcons);
    connect(&bench, &Workbench::detailChanged, this, [this](NodeId node) {
        if (m_copyWhenThere == node) {
            copySource();
        }
    });
    updateIcons();
    update();
}

void Steering::updateIcons()
{
    const Theme& theme = m_bench.theme();
    m_pin->setIcon(themedIcon(QStringLiteral("pin"), theme));
    m_prune->setIcon(themedIcon(QStringLiteral("prune"), theme));
    m_copy->setIcon(themedIcon(QStringLiteral("copy"), theme));
    m_export->setIcon(themedIcon(QStringLiteral("export"), theme));
    m_toBest->setIcon(themedIcon(QStringLiteral("best"), theme));
}

void Steering::update()
{
    const int index = m_bench.selectedIndex();
    const NodeSummary* node = index >= 0 ? &m_bench.nodes().at(index) : nullptr;
    const auto set = [](QAction* action, const QString& whyNot, const QString& what) {
        action->setEnabled(whyNot.isEmpty());
        action->setToolTip(whyNot.isEmpty() ? what : whyNot);
    };
    const QString none = node ? QString() : tr("Select a node first");
    m_pin->setText(node && node->pinned ? tr("Unpin") : tr("Pin"));
    m_prune->setText(node && node->pruned ? tr("Restore branch") : tr("Prune branch"));
    set(m_pin, none, tr("Keep the search building on this node (P)"));
    set(m_prune,
        none.isEmpty() && node->kind == NodeKind::Root && !node->pruned
            ? tr("The root cannot be pruned: everything grows from it")
            : none,
        tr("The search leaves this branch alone; nothing is deleted (X)"));
    const bool accept = node && node->outcome != Outcome::Passed;
    m_overturn->setText(accept ? tr("Accept against the judge…") : tr("Reject against the judge…"));
    set(m_overturn,
        !none.isEmpty() ? none
        : node->kind == NodeKind::Idea || node->state != NodeState::Done || node->outcome == Outcome::NotRun
            ? tr("There is no verdict to overturn")
            : QString(),
        tr("Set your word over the judge's, with a reason; both stay on record"));
    const QString noSource = !node                          ? none
                             : node->kind == NodeKind::Idea ? tr("An idea has no source: select one of its candidates")
                                                            : QString();
    set(m_copy, noSource, tr("Copy the whole source"));
    set(m_export,
        !noSource.isEmpty() ? noSource
        : node->outcome != Outcome::Passed || node->state != NodeState::Done
            ? tr("Only a candidate that passed can be exported")
            : QString(),
        tr("Write the kernel, its prototype and its evidence to a folder"));
    set(m_toParent,
        !node                                          ? none
        : m_bench.nodes().parentCandidateOf(index) < 0 ? tr("This is a root")
                                                       : QString(),
        tr("Select the candidate this one builds on"));
    set(m_toBest, m_bench.nodes().bestIndex() < 0 ? tr("Nothing has passed yet") : QString(),
        tr("Select the best candidate"));
}

void Steering::togglePin()
{
    if (const int index = m_bench.selectedIndex(); index >= 0) {
        const NodeSummary& node = m_bench.nodes().at(index);
        m_bench.undoStack().push(new SteerCommand(m_bench, SteerCommand::Act::Pin, node.id, !node.pinned));
    }
}

void Steering::togglePrune()
{
    if (const int index = m_bench.selectedIndex(); index >= 0) {
        const NodeSummary& node = m_bench.nodes().at(index);
        m_bench.undoStack().push(new SteerCommand(m_bench, SteerCommand::Act::Prune, node.id, !node.pruned));
    }
}

void Steering::askOverturn()
{
    const int index = m_bench.selectedIndex();
    if (index < 0) {
        return;
    }
    const NodeSummary& node = m_bench.nodes().at(index);
    const bool accept = node.outcome != Outcome::Passed;
    auto* dialog = new QInputDialog(QApplication::activeWindow());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(m_overturn->text());
    dialog->setLabelText((accept ? tr("Why should node %1 count as passed?") : tr("Why should node %1 be rejected?"))
                             .arg(node.id.value));
    connect(dialog, &QInputDialog::textValueSelected, this, [this, id = node.id, accept](const QString& reason) {
        m_bench.bridge().send(command::Overturn{id, accept, reason.trimmed().toStdString()});
    });
    dialog->open();
}

void Steering::copySource()
{
    const auto node = m_bench.selected();
    m_copyWhenThere.reset();
    if (!node) {
        return;
    }
    if (const auto detail = m_bench.detail(*node)) {
        QApplication::clipboard()->setText(format::text(detail->source));
        emit copied(format::text(detail->summary.title));
    } else {
        m_copyWhenThere = node;
    }
}

void Steering::installOn(QWidget* widget)
{
    widget->addAction(m_pin);
    widget->addAction(m_prune);
}

void Steering::popup(const QPoint& global, QWidget* parent)
{
    auto* menu = new QMenu(parent);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    menu->addActions({m_pin, m_prune, m_overturn});
    menu->addSeparator();
    menu->addActions({m_copy, m_export});
    menu->addSeparator();
    menu->addActions({m_toParent, m_toBest});
    menu->popup(global);
}

} // namespace espalier
