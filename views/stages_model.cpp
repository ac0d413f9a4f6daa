// SPDX-License-Identifier: GPL-3.0-only
#include "views/stages_model.h"

#include "views/sign_icon.h"

namespace espalier {

StagesModel::StagesModel(ThemeManager& themes, QObject* parent) : QAbstractItemModel(parent), m_themes(themes)
{
    connect(&themes, &ThemeManager::themeChanged, this, [this] {
        beginResetModel();
        endResetModel();
    });
}

void StagesModel::setDetail(const std::shared_ptr<const NodeDetail>& detail)
{
    beginResetModel();
    m_rows = detail ? stageRows(*detail) : std::vector<StageRow>();
    endResetModel();
}

QModelIndex StagesModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent)) {
        return {};
    }
    return createIndex(row, column, parent.isValid() ? quintptr(parent.row()) : topLevel);
}

QModelIndex StagesModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || child.internalId() == topLevel) {
        return {};
    }
    return createIndex(int(child.internalId()), 0, topLevel);
}

int StagesModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid()) {
        return int(m_rows.size());
    }
    const bool stage = parent.internalId() == topLevel && parent.column() == 0;
    return stage ? int(m_rows[std::size_t(parent.row())].facts.size()) : 0;
}

int StagesModel::columnCount(const QModelIndex&) const
{
    return columns;
}

QVariant StagesModel::stageData(const StageRow& row, int column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
        return column == Name ? row.name : column == Value ? row.state : row.seconds + QChar(0x2002);
    case Qt::FontRole: {
        QFont font;
        font.setBold(column == Name && row.reached);
        return font;
    }
    case Qt::DecorationRole:
        if (column == Value && row.reached) {
            NodeSummary sign;
            sign.kind = NodeKind::Candidate;
            sign.state = NodeState::Done;
            sign.outcome = row.outcome;
            return signIcon(lookOf(sign, false), m_themes.theme());
        }
        return {};
    case Qt::ForegroundRole:
        return row.reached ? QVariant() : QVariant(m_themes.theme()[Token::Muted]);
    default:
        return {};
    }
}

QVariant StagesModel::factData(const StageFact& fact, int column, int role) const
{
    switch (role) {
    case Qt::DisplayRole:
        return column == Name ? QVariant(fact.name) : column == Value ? QVariant(fact.value) : QVariant();
    case Qt::ToolTipRole:
        return column == Value ? QVariant(fact.value) : QVariant();
    case Qt::FontRole: {
        QFont font;
        font.setItalic(column == Value && fact.modelled);
        return font;
    }
    case Qt::ForegroundRole:
        return column == Name ? QVariant(m_themes.theme()[Token::Muted])
               : fact.bad     ? QVariant(m_themes.theme()[Token::Incorrect])
                              : QVariant();
    default:
        return {};
    }
}

QVariant StagesModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid()) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return int((index.column() == Seconds ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (index.internalId() == topLevel) {
        return stageData(m_rows[std::size_t(index.row())], index.column(), role);
    }
    return factData(m_rows[std::size_t(index.internalId())].facts[std::size_t(index.row())], index.column(), role);
}

QVariant StagesModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return int((section == Seconds ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    return section == Name ? tr("Stage") : section == Value ? tr("Result") : tr("Spent");
}

} // namespace espalier
