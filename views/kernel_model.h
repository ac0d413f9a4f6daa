// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QAbstractTableModel>
#include <QString>
#include <memory>
#include <vector>

namespace espalier {

class ThemeManager;

/// What one kernel of a candidate needs of a multiprocessor, as ptxas and its launch say.
struct KernelRow {
    QString name, fullName; ///< "norm"; "norm(float const*, float*, int)"
    int registers = 0;
    int spillStoreBytes = 0, spillLoadBytes = 0;
    int staticSharedBytes = 0, dynamicSharedBytes = 0;
    int localBytes = 0;
    int threads = 0;      ///< of a block; 0: it was not seen launched
    QString launch;       ///< "2048 × 256": blocks and threads; empty: not seen launched
    double occupancy = 0; ///< percent; 0: not known
    QString limitedBy;
};

/// ptxas' records joined with the launches that profiling saw. Pure; thread: any.
std::vector<KernelRow> kernelRows(const Evaluation& evaluation);

/// The same as a table. Thread: GUI.
class KernelModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { Name, Registers, Spills, Shared, Local, Launch, Occupancy, Limit, columns };
    explicit KernelModel(ThemeManager& themes, QObject* parent = nullptr);
    void setRows(std::vector<KernelRow> rows);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString textAt(const KernelRow& row, int column) const;
    QString tipAt(const KernelRow& row, int column) const;
    ThemeManager& m_themes;
    std::vector<KernelRow> m_rows;
};

} // namespace espalier
