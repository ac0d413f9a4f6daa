// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/engine/strategies.h"

#include <QDialog>
#include <vector>

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;

namespace espalier {

/// The strategies that there are, with what they say of themselves and their parameters. Thread: GUI.
class StrategyDialog : public QDialog
{
    Q_OBJECT
public:
    /// `words`: the one that searches now, as "beam:width=3".
    StrategyDialog(std::vector<StrategyDescription> strategies, const QString& words, QWidget* parent = nullptr);
    QString words() const; ///< parameters that differ from their default are named

private:
    void showParameters(const QString& given);

    std::vector<StrategyDescription> m_strategies;
    QComboBox* m_choice;
    QLabel* m_meaning;
    QFormLayout* m_parameters;
    std::vector<QDoubleSpinBox*> m_values;
};

} // namespace espalier
