// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/analysis/library_ratio.h"
#include "core/model/session.h"

#include <QList>
#include <QObject>
#include <optional>
#include <unordered_map>
#include <vector>

namespace espalier {

struct IdeaResult;

/// The session's nodes as the window knows them: flat, in order of arrival, addressed by index; nodes are never
/// removed. Thread: GUI. Owned by the window's Workbench; models and views read it and follow its signals, which come
/// after the change is in.
class NodeStore : public QObject
{
    Q_OBJECT
public:
    explicit NodeStore(QObject* parent = nullptr) : QObject(parent) {}

    int count() const { return int(m_nodes.size()); }
    const NodeSummary& at(int index) const { return m_nodes[std::size_t(index)]; }
    int indexOf(NodeId id) const;                                           ///< -1: unknown
    int parentOf(int index) const { return m_parents[std::size_t(index)]; } ///< of the primary edge; -1: a root
    const std::vector<int>& childrenOf(int index) const { return m_children[std::size_t(index)]; } ///< by ordinal
    const std::vector<int>& roots() const { return m_roots; }
    int parentCandidateOf(int index) const; ///< nearest root or candidate above; -1: none
    const RunStatus& status() const { return m_status; }
    int bestIndex() const;
    /// Pruned, somewhere below a pruned node (each carries its own flag only), or holding what is banned.
    bool outOfSearch(int index) const;
    /// Of the figures that may be ranked: those of the root as it was measured last. Empty: nothing was measured.
    const std::string& epoch() const;
    IdeaResult resultOf(int idea) const;
    /// Beside the fastest library: as it was timed with one, else through the root, which was. nullopt: neither was.
    std::optional<LibraryRatio> library(int index) const;

    void apply(const std::vector<NodeSummary>& nodes, const RunStatus& status);
    void clear();

signals:
    void cleared();
    void updated(const QList<int>& added, const QList<int>& changed); ///< indices, ascending
    void statusChanged();

private:
    void add(const NodeSummary& node);

    std::vector<NodeSummary> m_nodes;
    std::vector<int> m_parents;
    std::vector<std::vector<int>> m_children;
    std::vector<int> m_roots;
    std::unordered_map<NodeId, int> m_index;
    RunStatus m_status;
};

} // namespace espalier
