// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QAbstractTableModel>
#include <QList>
#include <optional>
#include <vector>

namespace espalier {

class Workbench;

/// Passed candidates and roots: the search's best first, then by their time; pruned ones stay in, because they were
/// measured. Who is not told from the one that leads by the judge's own rule shares its rank: "=". Figures of another
/// epoch than the root's are left out: they are never ranked with these. Rows move when a better one comes, so that a
/// selection keeps its node. Thread: GUI.
class LeaderboardModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Title, Library, Incumbent, Speedup, Time, Noise, Registers, Cost, FoundBy, columns };
    enum Role { SortRole = Qt::UserRole }; ///< a number, or the title's words

    explicit LeaderboardModel(Workbench& bench, QObject* parent = nullptr);
    std::optional<NodeId> nodeAt(const QModelIndex& index) const;
    QModelIndex indexOf(NodeId node) const;
    bool says(int column) const; ///< some row has something there

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    void rebuild();
    void handleUpdate(const QList<int>& added, const QList<int>& changed);
    void place(int node);
    bool belongs(int node) const;
    struct Row {
        int node;
        bool best;
        double time; ///< what it was placed by: a batch changes several nodes, and each is placed in turn
    };
    struct Rank {
        int number;   ///< from 1; 0: none, it is out of the search
        int tiesWith; ///< the node that leads, whose rank it shares; -1: its own
    };
    Row rowFor(int node) const;
    QVariant textOf(int node, int column) const;
    QVariant keyOf(int node, int column) const;
    const std::vector<Rank>& ranks() const;
    QString rankWords(int row) const;

    Workbench& m_bench;
    static bool faster(const Row& a, const Row& b)
    {
        return a.best != b.best ? a.best : a.time != b.time ? a.time < b.time : a.node < b.node;
    }
    std::vector<Row>::const_iterator rowOf(int node) const;
    std::vector<Row> m_rows;
    mutable std::vector<Rank> m_ranks; ///< by row; empty: to be found anew
    std::string m_epoch;
};

} // namespace espalier
