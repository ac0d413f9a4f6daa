// SPDX-License-Identifier: GPL-3.0-only
#include "views/limits_dialog.h"

#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <cmath>

namespace espalier {

namespace {
constexpr int tokensPerUnit = 1000;
}

LimitsDialog::LimitsDialog(const Budget& budget, QWidget* parent)
    : QDialog(parent), m_before(budget), m_evaluations(new QSpinBox), m_minutes(new QSpinBox),
      m_kiloTokens(new QSpinBox), m_usd(new QDoubleSpinBox), m_target(new QDoubleSpinBox), m_roof(new QDoubleSpinBox),
      m_plateau(new QSpinBox)
{
    setWindowTitle(tr("Limits"));
    for (QSpinBox* box : {m_evaluations, m_minutes, m_kiloTokens, m_plateau}) {
        box->setRange(0, 1000000);
        box->setSpecialValueText(tr("no limit"));
    }
    m_evaluations->setValue(int(budget.evaluations.value_or(0)));
    m_minutes->setValue(int(std::ceil(budget.seconds.value_or(0) / 60)));
    m_kiloTokens->setSuffix(tr(" thousand"));
    m_kiloTokens->setValue(int(std::ceil(double(budget.tokens.value_or(0)) / tokensPerUnit)));
    m_usd->setRange(0, 1000000);
    m_usd->setDecimals(2);
    m_usd->setPrefix(tr("USD "));
    m_usd->setSpecialValueText(tr("no limit"));
    m_usd->setValue(budget.usd.value_or(0));
    for (QDoubleSpinBox* box : {m_target, m_roof}) {
        box->setRange(0, 1000);
        box->setDecimals(3);
        box->setSpecialValueText(tr("no limit"));
    }
    m_target->setSuffix(tr("×"));
    m_target->setSingleStep(0.1);
    m_target->setToolTip(
        tr("Over the incumbent, over the root where there is none. The lower end of the interval counts."));
    m_target->setValue(budget.target.value_or(0));
    m_roof->setSuffix(tr(" %"));
    m_roof->setToolTip(tr("How far the best is from its goal floor, the time that the device's measured roofs allow."));
    m_roof->setValue(budget.roofPercent.value_or(0));
    m_plateau->setToolTip(tr("So many in a row without a new best."));
    m_plateau->setValue(int(budget.plateau.value_or(0)));
    auto* words = new QLabel(tr("Limits are the session's totals, over all its runs."));
    words->setWordWrap(true);
    auto* form = new QFormLayout(this);
    form->setContentsMargins(16, 16, 16, 12);
    form->setSpacing(8);
    form->addRow(words);
    form->addRow(tr("&Evaluations"), m_evaluations);
    form->addRow(tr("&Minutes"), m_minutes);
    form->addRow(tr("&Tokens of models"), m_kiloTokens);
    form->addRow(tr("M&oney for models"), m_usd);
    auto* rules = new QLabel(tr("The search has enough, and ends, as soon as one of these holds."));
    rules->setWordWrap(true);
    form->addRow(rules);
    form->addRow(tr("Target s&peed-up"), m_target);
    form->addRow(tr("&Above the roof by"), m_roof);
    form->addRow(tr("Evaluations on a p&lateau"), m_plateau);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    buttons->addButton(tr("Set"), QDialogButtonBox::AcceptRole)->setDefault(true);
    const QAbstractButton* run = buttons->addButton(tr("Set and &run"), QDialogButtonBox::AcceptRole);
    connect(buttons, &QDialogButtonBox::clicked, this,
            [this, run](const QAbstractButton* clicked) { m_runs = clicked == run; });
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
    budget.tokens = m_kiloTokens->value() > 0
                        ? std::optional<std::int64_t>(std::int64_t(m_kiloTokens->value()) * tokensPerUnit)
                        : std::nullopt;
    budget.usd = m_usd->value() > 0 ? std::optional<double>(m_usd->value()) : std::nullopt;
    budget.seconds = m_minutes->value() > 0 ? std::optional<double>(60.0 * m_minutes->value()) : std::nullopt;
    budget.target = m_target->value() > 0 ? std::optional(m_target->value()) : std::nullopt;
    budget.roofPercent = m_roof->value() > 0 ? std::optional(m_roof->value()) : std::nullopt;
    budget.plateau = m_plateau->value() > 0 ? std::optional<std::int64_t>(m_plateau->value()) : std::nullopt;
    return budget;
}

} // namespace espalier
