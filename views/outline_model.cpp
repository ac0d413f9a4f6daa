// SPDX-License-Identifier: GPL-3.0-only
#include "views/outline_model.h"

#include "views/format.h"
#include "views/node_look.h"
#include "views/sentence.h"
#include "views/sign_icon.h"
#include "views/workbench.h"

#include <algorithm>

namespace espalier {

namespace {
constexpr qsizetype manyAtOnce = 64;
}

bool OutlineFilter::accepts(const NodeSummary& node) const
{
    if (passedOnly &&
        !(node.kind != NodeKind::Idea && node.state == NodeState::Done && node.outcome == Outcome::Passed)) {
        return false;
    }
    if (hidePruned && node.pruned) {
        return false;
    }
    const QString all = spokenText(node, false) + QLatin1Char(' ') + format::text(node.proposer);
    const QStringList wanted = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

OutlineModel::OutlineModel(Workbench& bench, QObject* parent) : QAbstractItemModel(parent), m_bench(bench)
{
    connect(&bench.nodes(), &NodeStore::updated, this, &OutlineModel::handleUpdate);
    connect(&bench.nodes(), &NodeStore::cleared, this, &OutlineModel::rebuild);
    connect(&bench.themes(), &ThemeManager::themeChanged, this, [this] {
        if (!m_roots.empty()) {
            emit dataChanged(index(0, 0), index(int(m_roots.size()) - 1, columns - 1));
        }
    });
    rebuild();
}

void OutlineModel::setFilter(const OutlineFilter& filter)
{
    m_filter = filter;
    rebuild();
}

void OutlineModel::rebuild()
{
    beginResetModel();
    const NodeStore& nodes = m_bench.nodes();
    const auto count = std::size_t(nodes.count());
    m_shown.assign(count, 0);
    m_matches = 0;
    // Children come after their parents: backwards, a match reaches its ancestors in one pass.
    for (int i = nodes.count() - 1; i >= 0; --i) {
        const bool matches = m_filter.accepts(nodes.at(i));
        m_matches += matches;
        m_shown[std::size_t(i)] |= char(matches);
        if (m_shown[std::size_t(i)] && nodes.parentOf(i) >= 0) {
            m_shown[std::size_t(nodes.parentOf(i))] = 1;
        }
    }
    const auto shownOf = [&](const std::vector<int>& all) {
        std::vector<int> list;
        std::copy_if(all.begin(), all.end(), std::back_inserter(list),
                     [&](int node) { return m_shown[std::size_t(node)]; });
        return list;
    };
    m_roots = shownOf(nodes.roots());
    m_children.assign(count, {});
    for (int i = 0; i < nodes.count(); ++i) {
        m_children[std::size_t(i)] = shownOf(nodes.childrenOf(i));
    }
    endResetModel();
    emit matchesChanged();
}

void OutlineModel::handleUpdate(const QList<int>& added, const QList<int>& changed)
{
    if (added.size() > manyAtOnce) {
        return rebuild(); // a session that was just opened: one reset instead of thousands of insertions
    }
    const auto count = std::size_t(m_bench.nodes().count());
    m_children.resize(count);
    m_shown.resize(count, 0);
    for (const int node : added) {
        if (m_filter.accepts(m_bench.nodes().at(node))) {
            ++m_matches;
            show(node);
        }
    }
    for (const int node : changed) {
        if (m_shown[std::size_t(node)]) {
            emit dataChanged(modelIndex(node), modelIndex(node, columns - 1));
        } else if (m_filter.accepts(m_bench.nodes().at(node))) {
            ++m_matches;
            show(node);
        }
    }
    emit matchesChanged();
}

/// Inserts the node, its missing ancestors first.
void OutlineModel::show(int node)
{
    if (m_shown[std::size_t(node)]) {
        return;
    }
    const NodeStore& nodes = m_bench.nodes();
    const int parent = nodes.parentOf(node);
    if (parent >= 0) {
        show(parent);
    }
    // The place among the shown siblings follows from the place among all.
    const std::vector<int>& all = parent < 0 ? nodes.roots() : nodes.childrenOf(parent);
    int row = 0;
    for (const int sibling : all) {
        if (sibling == node) {
            break;
        }
        row += m_shown[std::size_t(sibling)];
    }
    beginInsertRows(parent < 0 ? QModelIndex() : modelIndex(parent), row, row);
    std::vector<int>& list = listUnder(parent);
    list.insert(list.begin() + row, node);
    m_shown[std::size_t(node)] = 1;
    endInsertRows();
}

QModelIndex OutlineModel::modelIndex(int node, int column) const
{
    const std::vector<int>& siblings = listUnder(m_bench.nodes().parentOf(node));
    const auto place = std::find(siblings.begin(), siblings.end(), node);
    return place == siblings.end() ? QModelIndex() : createIndex(int(place - siblings.begin()), column, quintptr(node));
}

QModelIndex OutlineModel::indexOf(NodeId node) const
{
    const int at = m_bench.nodes().indexOf(node);
    return at < 0 || !m_shown[std::size_t(at)] ? QModelIndex() : modelIndex(at);
}

std::optional<NodeId> OutlineModel::nodeAt(const QModelIndex& index) const
{
    return index.isValid() ? std::optional(m_bench.nodes().at(int(index.internalId())).id) : std::nullopt;
}

QModelIndex OutlineModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent)) {
        return {};
    }
    return createIndex(row, column,
                       quintptr(listUnder(parent.isValid() ? int(parent.internalId()) : -1)[std::size_t(row)]));
}

QModelIndex OutlineModel::parent(const QModelIndex& child) const
{
    const int above = child.isValid() ? m_bench.nodes().parentOf(int(child.internalId())) : -1;
    return above < 0 ? QModelIndex() : modelIndex(above);
}

int OutlineModel::rowCount(const QModelIndex& parent) const
{
    if (parent.column() > 0) {
        return 0;
    }
    return int(listUnder(parent.isValid() ? int(parent.internalId()) : -1).size());
}

int OutlineModel::columnCount(const QModelIndex&) const
{
    return columns;
}

QVariant OutlineModel::textOf(int node, int column) const
{
    const NodeSummary& summary = m_bench.nodes().at(node);
    const NodeLook look = lookOf(summary, node == m_bench.nodes().bestIndex());
    if (column == Figure) {
        return look.figure.isEmpty() ? look.word : look.figure;
    }
    return QStringLiteral("%1  %2").arg(summary.id.value).arg(look.title);
}

QVariant OutlineModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid()) {
        return {};
    }
    const int node = int(index.internalId());
    const NodeSummary& summary = m_bench.nodes().at(node);
    const bool best = node == m_bench.nodes().bestIndex();
    switch (role) {
    case Qt::DisplayRole:
        return textOf(node, index.column());
    case Qt::DecorationRole:
        return index.column() == Title ? QVariant(signIcon(lookOf(summary, best), m_bench.theme())) : QVariant();
    case Qt::TextAlignmentRole:
        return index.column() == Figure ? QVariant(int(Qt::AlignRight | Qt::AlignVCenter)) : QVariant();
    case Qt::FontRole: {
        const NodeLook look = lookOf(summary, best);
        QFont font;
        font.setItalic(index.column() == Figure && look.modelled);
        font.setStrikeOut(index.column() == Title && summary.pruned);
        return font;
    }
    case Qt::ForegroundRole:
        return m_bench.nodes().outOfSearch(node) || summary.kind == NodeKind::Idea || summary.state != NodeState::Done
                   ? QVariant(m_bench.theme()[Token::Muted])
                   : QVariant();
    case Qt::ToolTipRole:
        return sentenceFor(summary, summary.kind == NodeKind::Idea ? m_bench.nodes().resultOf(node) : IdeaResult());
    case Qt::AccessibleTextRole:
        return spokenText(summary, best);
    case NodeIdRole:
        return qlonglong(summary.id.value);
    default:
        return {};
    }
}

QVariant OutlineModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    return section == Title ? tr("Node") : tr("Speed-up");
}

} // namespace espalier
