// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/metric_rows.h"

#include <QAbstractTableModel>
#include <QSet>
#include <QSortFilterProxyModel>

namespace espalier {

class ThemeManager;

/// Metrics as rows; columns: the name, the first candidate's value, then value, difference and percent of each further
/// candidate. Thread: GUI.
class MetricModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Role {
        FigureRole = Qt::UserRole, ///< the unrounded number; invalid where there is none
        FillRole,                  ///< 0 to 1; of value columns
        PinnedRole,
        IdRole
    };
    enum class Kind { Name, Value, Delta, Percent };

    explicit MetricModel(ThemeManager& themes, QObject* parent = nullptr);
    void setTable(MetricTable table);
    const MetricTable& table() const { return m_table; }
    void setNoise(double percent);
    double noise() const { return m_noise; }
    void setPinned(const QModelIndex& index, bool pinned);
    void setPinnedIds(const QStringList& ids);
    QStringList pinnedIds() const;

    Kind kindOf(int column) const;
    std::size_t candidateOf(int column) const; ///< index of the table's column that a model column is about
    MetricChange changeAt(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString textAt(const QModelIndex& index) const;
    QVariant figureAt(const QModelIndex& index) const;
    QString tipAt(const QModelIndex& index) const;
    void changedAll();

    ThemeManager& m_themes;
    MetricTable m_table;
    QSet<QString> m_pinned;
    double m_noise = 2;
};

/// Filters by words and by size of change; pinned rows stand on top, whatever the order. Thread: GUI.
class MetricProxy : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    explicit MetricProxy(MetricModel& model, QObject* parent = nullptr);
    void setWords(const QString& words);
    void setOnlyChanged(bool only);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    MetricModel& m_model;
    QStringList m_words;
    bool m_onlyChanged = false;
};

/// The rows that are shown, in their order. Markdown as the window has it, CSV with unrounded figures and units.
QString markdownOf(const QAbstractItemModel& shown);
QString csvOf(const QAbstractItemModel& shown, const MetricModel& model);

} // namespace espalier
