// SPDX-License-Identifier: GPL-3.0-only
// What the acts of Steering do.
#include "views/branch_budget_dialog.h"
#include "views/format.h"
#include "views/inject_dialog.h"
#include "views/steer_commands.h"
#include "views/steering.h"
#include "views/workbench.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QInputDialog>
#include <QPointer>

namespace espalier {

void Steering::perform(Act act)
{
    if (act == Act::ToBest) {
        return m_bench.select(m_bench.nodes().status().best);
    }
    if (act == Act::InjectRoot) {
        return askKernel(std::nullopt);
    }
    if (const int index = m_bench.selectedIndex(); index >= 0) {
        performOn(m_bench.nodes().at(index), act);
    }
}

void Steering::performOn(const NodeSummary& node, Act act)
{
    EngineBridge& bridge = m_bench.bridge();
    switch (act) {
    case Act::Pin:
        return steer(m_bench, (node.pinned ? tr("Unpin node %1") : tr("Pin node %1")).arg(node.id.value),
                     command::SetPinned{node.id, !node.pinned}, command::SetPinned{node.id, node.pinned});
    case Act::Prune:
        return setPruned(m_bench, node, !node.pruned);
    case Act::BoostMore:
    case Act::BoostLess:
        return setBoost(m_bench, node, boostStep(node.boost, act == Act::BoostMore));
    case Act::BranchBudget:
        return askBranchBudget(node);
    case Act::NewIdea:
        emit ideaWanted();
        return;
    case Act::EditIdea:
        emit editWanted(node.id);
        return;
    case Act::AskAgain:
    case Act::AskIdeas:
        return bridge.send(command::Ask{node.id, {}, act == Act::AskIdeas});
    case Act::Inject:
        return askKernel(node.id);
    case Act::Cross:
        emit crossWanted(node.id);
        return;
    case Act::VerifyAgain:
        return bridge.send(command::JudgeAgain{node.id, Again::Verify});
    case Act::TimeAgain:
        return bridge.send(command::JudgeAgain{node.id, Again::Time});
    case Act::ProfileNow:
        return bridge.send(command::JudgeAgain{node.id, Again::Profile});
    case Act::Nsight:
        emit nsightWanted(node.id);
        return;
    case Act::Kill:
        return bridge.send(command::Kill{node.id});
    case Act::Overturn:
        return askOverturn(node);
    case Act::Copy:
        return copySource();
    case Act::Export:
        emit exportWanted(node.id);
        return;
    case Act::ToParent:
        if (const int above = m_bench.nodes().parentCandidateOf(m_bench.selectedIndex()); above >= 0) {
            m_bench.select(m_bench.nodes().at(above).id);
        }
        return;
    default:
        return;
    }
}

void Steering::askBranchBudget(const NodeSummary& node)
{
    auto* dialog = new BranchBudgetDialog(node, QApplication::activeWindow());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog, id = node.id, before = node.budget] {
        if (const BranchBudget budget = dialog->budget(); budget != before) {
            steer(m_bench, tr("Budget of branch %1").arg(id.value), command::SetBranchBudget{id, budget},
                  command::SetBranchBudget{id, before});
        }
    });
    dialog->open();
}

void Steering::askKernel(std::optional<NodeId> parent, const QString& file)
{
    const int above = parent ? m_bench.nodes().indexOf(*parent) : -1;
    const QString name =
        above >= 0 ? tr("%1  %2").arg(parent->value).arg(format::text(m_bench.nodes().at(above).title)) : QString();
    auto* dialog = new InjectDialog(m_bench.themes(), name, QApplication::activeWindow());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    if (!m_bench.isSearching()) {
        dialog->sayWhen(
            tr("The search does not run: the kernel waits until it goes on (F5), or until its step comes (F10)."));
    }
    if (!file.isEmpty()) {
        dialog->readFile(file);
    } else if (const auto detail = parent ? m_bench.detail(*parent) : nullptr; detail && !detail->source.empty()) {
        dialog->startFrom(format::text(detail->source), name);
    }
    connect(dialog, &InjectDialog::wanted, this, [this, dialog, parent] {
        const std::string title = dialog->title().toStdString();
        grow(
            m_bench, tr("Own kernel \"%1\"").arg(dialog->title()),
            command::Inject{parent, title, dialog->source().toStdString()},
            [parent, title](const NodeSummary& node) {
                return node.kind == (parent ? NodeKind::Candidate : NodeKind::Root) && node.title == title &&
                       (!parent || (!node.parents.empty() && node.parents.front().parent == *parent));
            },
            [dialog = QPointer(dialog)](const std::optional<Error>& refusal) {
                if (dialog) {
                    dialog->answer(refusal);
                }
            });
    });
    dialog->open();
}

void Steering::askOverturn(const NodeSummary& node)
{
    const bool accept = node.outcome != Outcome::Passed;
    auto* dialog = new QInputDialog(QApplication::activeWindow());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(action(Act::Overturn)->text());
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

} // namespace espalier
