// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QDialog>

class QDoubleSpinBox;
class QSpinBox;

namespace espalier {

/// What a node and everything below it may spend, beside what it has spent since a budget was set. Thread: GUI.
class BranchBudgetDialog : public QDialog
{
    Q_OBJECT
public:
    explicit BranchBudgetDialog(const NodeSummary& node, QWidget* parent = nullptr);
    BranchBudget budget() const;

private:
    QSpinBox* m_evaluations;
    QSpinBox* m_kiloTokens;
    QDoubleSpinBox* m_usd;
    QSpinBox* m_seconds;
};

} // namespace espalier
