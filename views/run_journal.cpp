// SPDX-License-Identifier: GPL-3.0-only
#include "views/run_journal.h"

#include "views/format.h"
#include "views/node_store.h"
#include "views/sentence.h"

#include <QDateTime>

namespace espalier {

namespace {

QPair<QString, QString> now(const QString& text)
{
    return {QDateTime::currentDateTimeUtc().toString(Qt::ISODate), text};
}

} // namespace

RunJournal::RunJournal(const NodeStore& nodes, QObject* parent) : QObject(parent), m_nodes(nodes)
{
    connect(&nodes, &NodeStore::updated, this, &RunJournal::handleUpdate);
    connect(&nodes, &NodeStore::statusChanged, this, &RunJournal::handleStatus);
    connect(&nodes, &NodeStore::cleared, this, [this] {
        m_states.clear();
        m_run = RunState::Idle;
        m_opened = false;
    });
}

QString RunJournal::verdictOf(int node) const
{
    const NodeSummary& summary = m_nodes.at(node);
    QString line = QStringLiteral("%1  %2: ").arg(summary.id.value).arg(format::text(summary.title));
    if (summary.outcome == Outcome::Passed && summary.speedupRoot) {
        const Provenance provenance = summary.provenance.value_or(Provenance::Model);
        const QString beside = summary.speedupLibrary ? tr(", %1 vs %2")
                                                            .arg(format::ratio(*summary.speedupLibrary, provenance),
                                                                 format::text(summary.library))
                                                      : QString();
        return line +
               tr("passed, %1 vs root")
                   .arg(format::withBounds(format::speedup(*summary.speedupRoot, provenance), *summary.speedupRoot)) +
               beside;
    }
    return line + sentenceFor(summary);
}

void RunJournal::handleUpdate(const QList<int>& added, const QList<int>& changed)
{
    QList<QPair<QString, QString>> lines;
    for (const QList<int>* list : {&added, &changed}) {
        for (const int node : *list) {
            const NodeSummary& summary = m_nodes.at(node);
            const auto before = m_states.find(node);
            const bool fresh = before == m_states.end() || before->second != summary.state;
            m_states[node] = summary.state;
            if (!m_opened || !fresh) {
                continue;
            }
            if (summary.kind == NodeKind::Idea) {
                if (list == &added) {
                    lines += now(tr("%1  idea by %2: %3")
                                     .arg(summary.id.value)
                                     .arg(format::text(summary.proposer), format::text(summary.title)));
                }
            } else if (summary.state == NodeState::Done) {
                lines += now(verdictOf(node));
            }
        }
    }
    m_opened = true;
    if (!lines.isEmpty()) {
        emit written(lines);
    }
}

void RunJournal::handleStatus()
{
    const RunStatus& status = m_nodes.status();
    if (status.state == m_run) {
        return;
    }
    m_run = status.state;
    const QString why = status.why.empty() ? QString() : QStringLiteral(": ") + format::text(status.why);
    emit written({now(tr("engine %1").arg(format::runState(status.state)) + why)});
}

} // namespace espalier
