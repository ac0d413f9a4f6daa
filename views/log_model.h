// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QAbstractListModel>
#include <QPair>
#include <QString>
#include <deque>

namespace espalier {

/// The newest lines of the engine's log, at most `limit`: a ring, because a long run writes without end. Thread: GUI.
class LogModel : public QAbstractListModel
{
    Q_OBJECT
public:
    explicit LogModel(int limit = 20000, QObject* parent = nullptr) : QAbstractListModel(parent), m_limit(limit) {}

    void append(const QList<QPair<QString, QString>>& lines); ///< time, text
    void clear();
    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

private:
    int m_limit;
    std::deque<QString> m_lines;
};

} // namespace espalier
