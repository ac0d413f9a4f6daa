// SPDX-License-Identifier: GPL-3.0-only
#include "views/log_model.h"

#include <QDateTime>

namespace espalier {

namespace {

/// "14:03:22  text": the reader's own time of day; what is no time stays as it is.
QString shown(const QPair<QString, QString>& line)
{
    const QDateTime time = QDateTime::fromString(line.first, Qt::ISODate);
    return (time.isValid() ? time.toLocalTime().toString(QStringLiteral("HH:mm:ss")) : line.first) +
           QStringLiteral("  ") + line.second;
}

} // namespace

void LogModel::append(const QList<QPair<QString, QString>>& lines)
{
    const int fresh = int(std::min<qsizetype>(lines.size(), m_limit));
    if (fresh == 0) {
        return;
    }
    if (const int over = int(m_lines.size()) + fresh - m_limit; over > 0) {
        beginRemoveRows({}, 0, over - 1);
        m_lines.erase(m_lines.begin(), m_lines.begin() + over);
        endRemoveRows();
    }
    const int first = int(m_lines.size());
    beginInsertRows({}, first, first + fresh - 1);
    for (qsizetype i = lines.size() - fresh; i < lines.size(); ++i) {
        m_lines.push_back(shown(lines[i]));
    }
    endInsertRows();
}

void LogModel::clear()
{
    beginResetModel();
    m_lines.clear();
    endResetModel();
}

int LogModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_lines.size());
}

QVariant LogModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || role != Qt::DisplayRole) {
        return {};
    }
    return m_lines[std::size_t(index.row())];
}

} // namespace espalier
