// SPDX-License-Identifier: GPL-3.0-only
#include "views/leaderboard_model.h"

#include "views/format.h"
#include "views/sentence.h"
#include "views/sign_icon.h"
#include "views/workbench.h"

#include <algorithm>

namespace espalier {

LeaderboardModel::LeaderboardModel(Workbench& bench, QObject* parent) : QAbstractTableModel(parent), m_bench(bench)
{
    connect(&bench.nodes(), &NodeStore::updated, this, &LeaderboardModel::handleUpdate);
    connect(&bench.nodes(), &NodeStore::cleared, this, &LeaderboardModel::rebuild);
    connect(&bench.themes(), &ThemeManager::themeChanged, this, [this] {
        if (!m_rows.empty()) {
            emit dataChanged(index(0, 0), index(int(m_rows.size()) - 1, columns - 1));
        }
    });
    rebuild();
}

bool LeaderboardModel::belongs(int node) const
{
    const NodeSummary& summary = m_bench.nodes().at(node);
    return summary.kind != NodeKind::Idea && summary.state == NodeState::Done && summary.outcome == Outcome::Passed &&
           summary.timeUs.has_value() && summary.epoch == m_epoch;
}

double LeaderboardModel::timeOf(int node) const
{
    return m_bench.nodes().at(node).timeUs->value;
}

std::vector<LeaderboardModel::Row>::const_iterator LeaderboardModel::rowOf(int node) const
{
    return std::find_if(m_rows.begin(), m_rows.end(), [node](const Row& row) { return row.node == node; });
}

void LeaderboardModel::rebuild()
{
    beginResetModel();
    m_rows.clear();
    m_epoch = m_bench.nodes().epoch();
    for (int i = 0; i < m_bench.nodes().count(); ++i) {
        if (belongs(i)) {
            m_rows.push_back({i, timeOf(i)});
        }
    }
    std::sort(m_rows.begin(), m_rows.end(), faster);
    endResetModel();
}

void LeaderboardModel::handleUpdate(const QList<int>& added, const QList<int>& changed)
{
    if (m_epoch != m_bench.nodes().epoch()) { // another device or driver: everything is ranked anew
        rebuild();
        return;
    }
    for (const QList<int>& list : {added, changed}) {
        for (const int node : list) {
            place(node);
        }
    }
}

void LeaderboardModel::place(int node)
{
    const auto found = rowOf(node);
    const bool present = found != m_rows.end();
    const int from = int(found - m_rows.begin());
    if (!belongs(node)) {
        if (present) {
            beginRemoveRows({}, from, from);
            m_rows.erase(found);
            endRemoveRows();
        }
        return;
    }
    const Row row{node, timeOf(node)};
    // Its place among the others, which are in order; the node's own row does not count.
    const int to = int(std::count_if(m_rows.begin(), m_rows.end(),
                                     [&](const Row& other) { return other.node != node && faster(other, row); }));
    if (!present) {
        beginInsertRows({}, to, to);
        m_rows.insert(m_rows.begin() + to, row);
        endInsertRows();
        return;
    }
    if (to != from) {
        beginMoveRows({}, from, from, {}, to > from ? to + 1 : to);
        m_rows.erase(m_rows.begin() + from);
        m_rows.insert(m_rows.begin() + to, row);
        endMoveRows();
    }
    m_rows[std::size_t(to)] = row;
    emit dataChanged(index(to, 0), index(to, columns - 1));
}

std::optional<NodeId> LeaderboardModel::nodeAt(const QModelIndex& index) const
{
    return index.isValid() ? std::optional(m_bench.nodes().at(m_rows[std::size_t(index.row())].node).id) : std::nullopt;
}

QModelIndex LeaderboardModel::indexOf(NodeId node) const
{
    const auto found = rowOf(m_bench.nodes().indexOf(node));
    return found == m_rows.end() ? QModelIndex() : index(int(found - m_rows.begin()), 0);
}

bool LeaderboardModel::hasIncumbent() const
{
    return std::any_of(m_rows.begin(), m_rows.end(),
                       [this](const Row& row) { return m_bench.nodes().at(row.node).speedupIncumbent.has_value(); });
}

int LeaderboardModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int LeaderboardModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(columns);
}

QVariant LeaderboardModel::textOf(int node, int column) const
{
    const NodeSummary& summary = m_bench.nodes().at(node);
    const Provenance provenance = summary.provenance.value_or(Provenance::Model);
    switch (column) {
    case Title:
        return QStringLiteral("%1  %2").arg(summary.id.value).arg(format::text(summary.title));
    case Speedup:
        return summary.speedupRoot              ? format::speedup(summary.speedupRoot->value, provenance)
               : summary.kind == NodeKind::Root ? format::speedup(1, provenance)
                                                : QStringLiteral("–");
    case Incumbent:
        return summary.speedupIncumbent ? format::speedup(summary.speedupIncumbent->value, provenance)
                                        : QStringLiteral("–");
    case Time:
        return format::time(summary.timeUs->value, provenance);
    case FoundBy:
        return summary.kind == NodeKind::Root ? QStringLiteral("–") : format::text(summary.proposer);
    default:
        return {};
    }
}

QVariant LeaderboardModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid()) {
        return {};
    }
    const int node = m_rows[std::size_t(index.row())].node;
    const NodeSummary& summary = m_bench.nodes().at(node);
    const bool out = m_bench.nodes().outOfSearch(node);
    const bool figure = index.column() == Speedup || index.column() == Incumbent || index.column() == Time;
    switch (role) {
    case Qt::DisplayRole:
        return textOf(node, index.column());
    case Qt::DecorationRole:
        if (index.column() == Title) {
            NodeLook look = lookOf(summary, node == m_bench.nodes().bestIndex());
            look.pruned = out;
            return signIcon(look, m_bench.theme());
        }
        return {};
    case Qt::TextAlignmentRole:
        return figure ? QVariant(int(Qt::AlignRight | Qt::AlignVCenter)) : QVariant();
    case Qt::FontRole: {
        QFont font;
        font.setItalic(figure && summary.provenance.value_or(Provenance::Model) == Provenance::Model);
        return font;
    }
    case Qt::ForegroundRole:
        return out ? QVariant(m_bench.theme()[Token::Muted]) : QVariant();
    case Qt::ToolTipRole:
        return sentenceFor(summary);
    default:
        return {};
    }
}

QVariant LeaderboardModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role == Qt::TextAlignmentRole && orientation == Qt::Horizontal) {
        return int((section == Speedup || section == Incumbent || section == Time ? Qt::AlignRight : Qt::AlignLeft) |
                   Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    if (orientation == Qt::Vertical) {
        return section + 1;
    }
    switch (section) {
    case Title:
        return tr("Candidate");
    case Speedup:
        return tr("vs root");
    case Incumbent:
        return tr("vs incumbent");
    case Time:
        return tr("Time");
    case FoundBy:
        return tr("By");
    default:
        return {};
    }
}

} // namespace espalier
