// SPDX-License-Identifier: GPL-3.0-only
#include "views/limits_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <cmath>

namespace espalier {

LimitsDialog::LimitsDialog(const Budget& budget, QWidget* parent)
    : QDialog(parent), m_before(budget), m_evaluations(new QSpinBox), m_minutes(new QSpinBox)
{
    setWindowTitle(tr("Limits"));
    for (QSpinBox* box : {m_evaluations, m_minutes}) {
        box->setRange(0, 1000000);
        box->setSpecialValueText(tr("no limit"));
    }
    m_evaluations->setValue(int(budget.evaluations.value_or(0)));
    m_minutes->setValue(int(std::ceil(budget.seconds.value_or(0) / 60)));
    auto* words = new QLabel(tr("Limits are the session's totals, over all its runs. The search goes on at once."));
    words->setWordWrap(true);
    auto* form = new QFormLayout(this);
    form->setContentsMargins(16, 16, 16, 12);
    form->setSpacing(8);
    form->addRow(words);
    form->addRow(tr("&Evaluations"), m_evaluations);
    form->addRow(tr("&Minutes"), m_minutes);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    buttons->addButton(tr("Run"), QDialogButtonBox::AcceptRole)->setDefault(true);
    form->addRow(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    setMinimumWidth(340);
}

Budget LimitsDialog::budget() const
{
    Budget budget = m_before;
    budget.evaluations =
        m_evaluations->value() > 0 ? std::optional<std::int64_t>(m_evaluations->value()) : std::nullopt;
    budget.seconds = m_minutes->value() > 0 ? std::optional<double>(60.0 * m_minutes->value()) : std::nullopt;
    return budget;
}

} // namespace espalier
