// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/session.h"

#include <QDialog>

class QDoubleSpinBox;
class QSpinBox;

namespace espalier {

/// The session's totals: evaluations, minutes, and what models may cost; and the rules by which it has enough. Thread:
/// GUI.
class LimitsDialog : public QDialog
{
    Q_OBJECT
public:
    explicit LimitsDialog(const Budget& budget, QWidget* parent = nullptr);
    Budget budget() const;
    bool runs() const { return m_runs; } ///< the search goes on with them at once

private:
    Budget m_before;
    QSpinBox* m_evaluations;
    QSpinBox* m_minutes;
    QSpinBox* m_kiloTokens;
    QDoubleSpinBox* m_usd;
    QDoubleSpinBox* m_target;
    QDoubleSpinBox* m_roof;
    QSpinBox* m_plateau;
    bool m_runs = false;
};

} // namespace espalier
