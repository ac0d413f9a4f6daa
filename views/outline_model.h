// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QAbstractItemModel>
#include <QList>
#include <optional>
#include <vector>

namespace espalier {

class Workbench;

/// What the outline shows: every word must occur in the node's title, proposer, outcome or number.
struct OutlineFilter {
    QString words;
    bool passedOnly = false;
    bool hidePruned = false;
    bool isActive() const { return passedOnly || hidePruned || !words.trimmed().isEmpty(); }
    bool accepts(const NodeSummary& node) const;
};

/// The tree as an item model: the keyboard's and the screen reader's twin of the painted one. It filters itself, in one
/// pass over the nodes and one reset, because a filter proxy under an expanded view is quadratic. While a filter is on,
/// a node that comes to match appears with its ancestors; one that ceases to match stays until the filter changes, so
/// that nothing vanishes under the reader's eyes. Thread: GUI.
class OutlineModel : public QAbstractItemModel
{
    Q_OBJECT
public:
    enum Column { Title, Figure, columns };
    enum Role { NodeIdRole = Qt::UserRole + 1 };

    explicit OutlineModel(Workbench& bench, QObject* parent = nullptr);

    void setFilter(const OutlineFilter& filter);
    int matches() const { return m_matches; }
    QModelIndex indexOf(NodeId node) const;
    std::optional<NodeId> nodeAt(const QModelIndex& index) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

signals:
    void matchesChanged();

private:
    void rebuild();
    void handleUpdate(const QList<int>& added, const QList<int>& changed);
    void show(int node);
    std::vector<int>& listUnder(int parent) { return parent < 0 ? m_roots : m_children[std::size_t(parent)]; }
    const std::vector<int>& listUnder(int parent) const
    {
        return parent < 0 ? m_roots : m_children[std::size_t(parent)];
    }
    QModelIndex modelIndex(int node, int column = 0) const;
    QVariant textOf(int node, int column) const;

    Workbench& m_bench;
    OutlineFilter m_filter;
    std::vector<int> m_roots;                 ///< shown nodes, by store index
    std::vector<std::vector<int>> m_children; ///< shown children of each node
    std::vector<char> m_shown;
    int m_matches = 0;
};

} // namespace espalier
