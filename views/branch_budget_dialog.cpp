// SPDX-License-Identifier: GPL-3.0-only
#include "views/branch_budget_dialog.h"

#include "views/format.h"

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

QSpinBox* limit(std::optional<double> value, const QString& suffix)
{
    auto* box = new QSpinBox;
    box->setRange(0, 1000000000);
    box->setSpecialValueText(BranchBudgetDialog::tr("no limit"));
    box->setSuffix(suffix);
    box->setValue(int(std::ceil(value.value_or(0))));
    return box;
}

template <typename T>
std::optional<T> given(double value)
{
    return value > 0 ? std::optional<T>(T(value)) : std::nullopt;
}

} // namespace

BranchBudgetDialog::BranchBudgetDialog(const NodeSummary& node, QWidget* parent)
    : QDialog(parent), m_evaluations(limit(node.budget.evaluations, QString())),
      m_kiloTokens(limit(node.budget.tokens ? std::optional(double(*node.budget.tokens) / tokensPerUnit) : std::nullopt,
                         tr(" thousand"))),
      m_usd(new QDoubleSpinBox), m_seconds(limit(node.budget.seconds, tr(" s")))
{
    setWindowTitle(tr("Budget of branch %1").arg(node.id.value));
    m_usd->setRange(0, 1000000);
    m_usd->setDecimals(2);
    m_usd->setPrefix(tr("USD "));
    m_usd->setSpecialValueText(tr("no limit"));
    m_usd->setValue(node.budget.usd.value_or(0));
    auto* words =
        new QLabel(tr("\"%1\" and all below it may spend this much from now on, all together; then nothing more "
                      "grows there.")
                       .arg(format::text(node.title)));
    words->setTextFormat(Qt::PlainText);
    words->setWordWrap(true);
    const BranchSpending& spent = node.branchSpent;
    auto* so = new QLabel(node.budget.none()
                              ? tr("This branch has no budget yet.")
                              : tr("Spent since it was set: %1 evaluations, %2 tokens, USD %3, %4 of the device.")
                                    .arg(spent.evaluations)
                                    .arg(format::count(std::uint64_t(spent.tokens)))
                                    .arg(spent.usd, 0, 'f', 2)
                                    .arg(format::seconds(spent.seconds)));
    so->setTextFormat(Qt::PlainText);
    so->setWordWrap(true);
    so->setObjectName(QStringLiteral("spent"));
    auto* form = new QFormLayout(this);
    form->setContentsMargins(16, 16, 16, 12);
    form->setSpacing(8);
    form->addRow(words);
    form->addRow(tr("&Evaluations"), m_evaluations);
    form->addRow(tr("&Tokens"), m_kiloTokens);
    form->addRow(tr("&Money"), m_usd);
    form->addRow(tr("&Device time"), m_seconds);
    form->addRow(so);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    buttons->addButton(tr("Set"), QDialogButtonBox::AcceptRole)->setDefault(true);
    form->addRow(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    setMinimumWidth(380);
}

BranchBudget BranchBudgetDialog::budget() const
{
    BranchBudget budget;
    budget.evaluations = given<std::int64_t>(m_evaluations->value());
    budget.tokens = given<std::int64_t>(double(m_kiloTokens->value()) * tokensPerUnit);
    budget.usd = given<double>(m_usd->value());
    budget.seconds = given<double>(m_seconds->value());
    return budget;
}

} // namespace espalier
