// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QAbstractItemModel>
#include <QString>
#include <memory>
#include <vector>

namespace espalier {

class ThemeManager;

/// One fact of a stage: "Registers · row_softmax" = "40".
struct StageFact {
    QString name, value;
    bool bad = false; ///< a limit was passed: shown in the colour of a rejection
    bool modelled = false;
};

struct StageRow {
    QString name, state, seconds;
    Outcome outcome = Outcome::Passed;
    bool reached = false;
    std::vector<StageFact> facts;
};

/// generate, build, verify and time of one candidate, as records a person can read. Pure; thread: any.
std::vector<StageRow> stageRows(const NodeDetail& detail);

/// The same as a two-level model: stages, their facts below. Thread: GUI.
class StagesModel : public QAbstractItemModel
{
    Q_OBJECT
public:
    enum Column { Name, Value, Seconds, columns };
    explicit StagesModel(ThemeManager& themes, QObject* parent = nullptr);
    void setDetail(const std::shared_ptr<const NodeDetail>& detail); ///< null: empty

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    static constexpr quintptr topLevel = ~quintptr(0);
    QVariant stageData(const StageRow& row, int column, int role) const;
    QVariant factData(const StageFact& fact, int column, int role) const;

    ThemeManager& m_themes;
    std::vector<StageRow> m_rows;
};

} // namespace espalier
