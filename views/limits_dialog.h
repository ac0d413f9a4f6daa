// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/session.h"

#include <QDialog>

class QSpinBox;

namespace espalier {

/// The session's totals: evaluations and minutes. Thread: GUI.
class LimitsDialog : public QDialog
{
    Q_OBJECT
public:
    explicit LimitsDialog(const Budget& budget, QWidget* parent = nullptr);
    Budget budget() const;

private:
    Budget m_before;
    QSpinBox* m_evaluations;
    QSpinBox* m_minutes;
};

} // namespace espalier
