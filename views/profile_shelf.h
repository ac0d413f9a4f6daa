// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/candidate_facts.h"

#include <QObject>
#include <QTimer>
#include <deque>
#include <set>
#include <unordered_map>

namespace espalier {

class Workbench;

/// The profile facts of all candidates that passed. While somebody wants them it fetches details, a few at a time, and
/// keeps of each only the facts; the engine is never asked twice for the same state of a node. Thread: GUI.
class ProfileShelf : public QObject
{
    Q_OBJECT
public:
    explicit ProfileShelf(Workbench& bench, QObject* parent = nullptr);

    /// `who` shows facts now, or no longer.
    void setWanted(const QObject* who, bool wanted);
    std::shared_ptr<const CandidateFacts> find(NodeId node) const;
    const std::unordered_map<NodeId, std::shared_ptr<const CandidateFacts>>& all() const { return m_facts; }
    int candidates() const; ///< that passed
    int profiled() const { return m_profiled; }
    bool complete() const { return m_queue.empty() && m_asked.empty(); }

signals:
    void changed(); ///< at most some ten times a second

private:
    void enqueue(int index);
    void enqueueAll();
    void pump();
    void take(const std::shared_ptr<const NodeDetail>& detail);
    void forget();

    Workbench& m_bench;
    std::set<const QObject*> m_wanting;
    std::deque<NodeId> m_queue;
    std::set<NodeId> m_queued, m_asked;
    std::unordered_map<NodeId, std::shared_ptr<const CandidateFacts>> m_facts;
    std::unordered_map<NodeId, NodeSummary> m_known; ///< the state of the node that the facts are of
    int m_profiled = 0;
    QTimer m_news;
};

} // namespace espalier
