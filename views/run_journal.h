// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/session.h"

#include <QList>
#include <QObject>
#include <QPair>
#include <QString>
#include <unordered_map>

namespace espalier {

class NodeStore;

/// Puts what happens to nodes and to the run into words for the log: one line per verdict, one per change of state.
/// The nodes a session is opened with are history and give no lines. Thread: GUI.
class RunJournal : public QObject
{
    Q_OBJECT
public:
    explicit RunJournal(const NodeStore& nodes, QObject* parent = nullptr);

signals:
    void written(const QList<QPair<QString, QString>>& lines); ///< time (ISO 8601, UTC), text

private:
    void handleUpdate(const QList<int>& added, const QList<int>& changed);
    void handleStatus();
    QString verdictOf(int node) const;

    const NodeStore& m_nodes;
    std::unordered_map<int, NodeState> m_states;
    RunState m_run = RunState::Idle;
    bool m_opened = false;
};

} // namespace espalier
