// SPDX-License-Identifier: GPL-3.0-only
#include "views/leaderboard_model.h"

#include "core/analysis/fresh_runs.h"
#include "views/format.h"
#include "views/sentence.h"
#include "views/sign_icon.h"
#include "views/workbench.h"

#include <algorithm>

namespace espalier {

namespace {

const QString nothing = QStringLiteral("–");

bool isFigure(int column)
{
    return column != LeaderboardModel::Title && column != LeaderboardModel::FoundBy;
}

} // namespace

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

LeaderboardModel::Row LeaderboardModel::rowFor(int node) const
{
    return {node, node == m_bench.nodes().bestIndex(), m_bench.nodes().at(node).timeUs->value};
}

std::vector<LeaderboardModel::Row>::const_iterator LeaderboardModel::rowOf(int node) const
{
    return std::find_if(m_rows.begin(), m_rows.end(), [node](const Row& row) { return row.node == node; });
}

void LeaderboardModel::rebuild()
{
    beginResetModel();
    m_rows.clear();
    m_ranks.clear();
    m_epoch = m_bench.nodes().epoch();
    for (int i = 0; i < m_bench.nodes().count(); ++i) {
        if (belongs(i)) {
            m_rows.push_back(rowFor(i));
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
    m_ranks.clear();
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
    const Row row = rowFor(node);
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
    m_ranks.clear(); // a view may have asked for them while the row moved
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

bool LeaderboardModel::says(int column) const
{
    const auto has = [&](const Row& row) {
        const NodeSummary& node = m_bench.nodes().at(row.node);
        switch (column) {
        case Library:
            return m_bench.nodes().library(row.node).has_value();
        case Incumbent:
            return node.speedupIncumbent.has_value();
        case Noise:
            return node.timeUs->high > node.timeUs->low;
        case Registers:
            return node.registers > 0;
        case Cost:
            return node.usd.has_value() || node.tokens > 0;
        default:
            return true;
        }
    };
    return std::any_of(m_rows.begin(), m_rows.end(), has);
}

namespace {

Interval overRoot(const NodeSummary& node, const NodeStore& nodes)
{
    if (node.speedupRoot) {
        return *node.speedupRoot;
    }
    const NodeSummary& root = nodes.at(nodes.roots().front());
    return root.timeUs && root.id != node.id ? statistics::quotient(*root.timeUs, *node.timeUs) : Interval{1, 1, 1};
}

} // namespace

/// A tie is the judge's: the intervals do not tell the two apart, or they differ by less than it calls a difference.
const std::vector<LeaderboardModel::Rank>& LeaderboardModel::ranks() const
{
    if (m_ranks.size() == m_rows.size()) {
        return m_ranks;
    }
    m_ranks.clear();
    const NodeStore& nodes = m_bench.nodes();
    int leader = -1, ranked = 0, number = 0;
    for (const Row& row : m_rows) {
        const NodeSummary& node = nodes.at(row.node);
        if (node.guardBroken || nodes.outOfSearch(row.node)) {
            m_ranks.push_back({0, -1});
            continue;
        }
        ++ranked;
        const double band =
            node.provenance.value_or(Provenance::Model) == Provenance::Model ? 0 : statistics::leastDifference;
        const bool tie =
            leader >= 0 &&
            statistics::compare(statistics::quotient(overRoot(nodes.at(leader), nodes), overRoot(node, nodes)), band) ==
                statistics::Comparison::Tie;
        leader = tie ? leader : row.node;
        number = tie ? number : ranked;
        m_ranks.push_back({number, tie ? leader : -1});
    }
    return m_ranks;
}

QString LeaderboardModel::rankWords(int row) const
{
    const Rank& rank = ranks()[std::size_t(row)];
    const int node = m_rows[std::size_t(row)].node;
    const NodeSummary& summary = m_bench.nodes().at(node);
    if (rank.number == 0) {
        return summary.guardBroken ? tr("Has no rank: it is slower in some case than the task's guard allows")
                                   : tr("Has no rank: it is out of the search");
    }
    if (rank.tiesWith >= 0) {
        return tr("Shares rank %1: it cannot be told from node %2 within the noise; which one leads is not measured")
            .arg(rank.number)
            .arg(m_bench.nodes().at(rank.tiesWith).id.value);
    }
    return node == m_bench.nodes().bestIndex() ? tr("Rank %1: the search's best").arg(rank.number)
                                               : tr("Rank %1").arg(rank.number);
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
                                                : nothing;
    case Library: {
        const auto library = m_bench.nodes().library(node);
        return library ? format::ratio(library->speedup, provenance) : nothing;
    }
    case Incumbent:
        return summary.speedupIncumbent ? format::ratio(*summary.speedupIncumbent, provenance) : nothing;
    case Time:
        return format::time(summary.timeUs->value, provenance);
    case Noise:
        return format::halfWidth(*summary.timeUs);
    case Registers:
        return summary.registers > 0 ? QString::number(summary.registers) : nothing;
    case Cost:
        return summary.usd          ? QStringLiteral("$%1").arg(*summary.usd, 0, 'f', 4)
               : summary.tokens > 0 ? tr("%1 tokens").arg(summary.tokens)
                                    : nothing;
    case FoundBy:
        return summary.kind == NodeKind::Root ? nothing : format::text(summary.proposer);
    default:
        return {};
    }
}

/// What a column is sorted by: larger is better, smaller for times; what is not there has no key.
QVariant LeaderboardModel::keyOf(int node, int column) const
{
    const NodeSummary& summary = m_bench.nodes().at(node);
    const auto value = [](const std::optional<Interval>& interval) {
        return interval ? QVariant(interval->value) : QVariant();
    };
    switch (column) {
    case Library: {
        const auto library = m_bench.nodes().library(node);
        return library ? QVariant(library->speedup.value) : QVariant();
    }
    case Incumbent:
        return value(summary.speedupIncumbent);
    case Speedup:
        return overRoot(summary, m_bench.nodes()).value;
    case Time:
        return summary.timeUs->value;
    case Noise:
        return (summary.timeUs->high - summary.timeUs->low) / summary.timeUs->value;
    case Registers:
        return summary.registers;
    case Cost:
        return summary.usd ? QVariant(*summary.usd) : QVariant(0.0);
    default:
        return textOf(node, column);
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
    const bool figure = isFigure(index.column());
    switch (role) {
    case Qt::DisplayRole:
        return textOf(node, index.column());
    case SortRole:
        return keyOf(node, index.column());
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
        return tr("%1\n%2\n%3").arg(format::text(summary.title), rankWords(index.row()), sentenceFor(summary));
    default:
        return {};
    }
}

QVariant LeaderboardModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Vertical) {
        const Rank& rank = ranks()[std::size_t(section)];
        return role == Qt::ToolTipRole   ? QVariant(rankWords(section))
               : role != Qt::DisplayRole ? QVariant()
               : rank.number == 0        ? QVariant(nothing)
               : rank.tiesWith >= 0      ? QVariant(QStringLiteral("="))
                                         : QVariant(rank.number);
    }
    if (role == Qt::TextAlignmentRole) {
        return int((isFigure(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole) {
        return {};
    }
    const bool tip = role == Qt::ToolTipRole;
    switch (section) {
    case Title:
        return tip ? tr("The candidate's number and title") : tr("Candidate");
    case Library:
        return tip ? tr("Times as fast as the fastest library that was timed beside it, or beside the root; =: a tie")
                   : tr("vs library");
    case Incumbent:
        return tip ? tr("Times as fast as the kernel that serves today; =: a tie") : tr("vs incumbent");
    case Speedup:
        return tip ? tr("Times as fast as the kernel that the search started from") : tr("vs root");
    case Time:
        return tip ? tr("One call") : tr("Time");
    case Noise:
        return tip ? tr("Half the width of the time's 95 % interval") : tr("±");
    case Registers:
        return tip ? tr("Registers a thread, of the kernel that takes most") : tr("Regs");
    case Cost:
        return tip ? tr("Paid for the models' answers about it") : tr("Cost");
    case FoundBy:
        return tip ? tr("Who proposed it") : tr("By");
    default:
        return {};
    }
}

} // namespace espalier
