// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QAbstractTableModel>
#include <QList>
#include <optional>
#include <vector>

namespace espalier {

class Workbench;

/// Passed candidates and roots, fastest first; pruned ones stay in, because they were measured. Figures of another
/// epoch than the root's are left out: they are never ranked with these. Rows move when a better one comes, so that a
/// selection keeps its node. Thread: GUI.
class LeaderboardModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Title, FoundBy, Incumbent, Speedup, Time, columns };

    explicit LeaderboardModel(Workbench& bench, QObject* parent = nullptr);
    std::optional<NodeId> nodeAt(const QModelIndex& index) const;
    QModelIndex indexOf(NodeId node) const;
    bool hasIncumbent() const; ///< some row was timed against one: else its column says nothing

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    void rebuild();
    void handleUpdate(const QList<int>& added, const QList<int>& changed);
    void place(int node);
    bool belongs(int node) const;
    double timeOf(int node) const;
    QVariant textOf(int node, int column) const;

    Workbench& m_bench;
    struct Row {
        int node;
        double time; ///< what it was placed by: a batch changes several nodes, and each is placed in turn
    };
    static bool faster(const Row& a, const Row& b) { return a.time != b.time ? a.time < b.time : a.node < b.node; }
    std::vector<Row>::const_iterator rowOf(int node) const;
    std::vector<Row> m_rows;
    std::string m_epoch;
};

} // namespace espalier
