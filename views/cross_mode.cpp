// SPDX-License-Identifier: GPL-3.0-only
#include "views/cross_mode.h"

#include "views/format.h"
#include "views/steer_commands.h"
#include "views/workbench.h"

#include <QAction>
#include <QWidget>
#include <algorithm>

namespace espalier {

CrossMode::CrossMode(Workbench& bench, QWidget* window) : QObject(window), m_bench(bench), m_escape(new QAction(this))
{
    m_escape->setShortcut(QKeySequence(Qt::Key_Escape));
    m_escape->setEnabled(false);
    window->addAction(m_escape);
    connect(m_escape, &QAction::triggered, this, &CrossMode::leave);
    connect(&bench, &Workbench::sessionClosed, this, &CrossMode::leave);
}

void CrossMode::begin(NodeId first)
{
    const int index = m_bench.nodes().indexOf(first);
    if (index < 0) {
        return;
    }
    m_first = first;
    m_escape->setEnabled(true);
    emit said(tr("Cross %1  %2 with…: click the second kernel, or go there and press Return. Esc leaves.")
                  .arg(first.value)
                  .arg(format::text(m_bench.nodes().at(index).title)));
}

bool CrossMode::choose(NodeId second)
{
    if (!m_first) {
        return false;
    }
    const int index = m_bench.nodes().indexOf(second);
    const NodeSummary* node = index >= 0 ? &m_bench.nodes().at(index) : nullptr;
    if (!node || second == *m_first) {
        return true; // another one is meant
    }
    if (node->kind == NodeKind::Idea || node->state != NodeState::Done || node->outcome != Outcome::Passed) {
        emit said(tr("%1  %2 cannot be crossed: choose a kernel that passed. Esc leaves.")
                      .arg(second.value)
                      .arg(format::text(node->title)));
        return true;
    }
    const NodeId first = *m_first;
    leave();
    grow(m_bench, tr("Cross %1 with %2").arg(first.value).arg(second.value), command::CrossOver{first, second},
         [first, second](const NodeSummary& made) {
             const auto from = [&](NodeId parent) {
                 return std::any_of(made.parents.begin(), made.parents.end(),
                                    [&](const Edge& edge) { return edge.parent == parent; });
             };
             return made.kind == NodeKind::Idea && from(first) && from(second);
         });
    return true;
}

void CrossMode::leave()
{
    if (m_first) {
        m_first.reset();
        m_escape->setEnabled(false);
        emit said({});
    }
}

} // namespace espalier
