// SPDX-License-Identifier: GPL-3.0-only
#include "views/strategy_dialog.h"

#include "views/format.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>
#include <utility>

namespace espalier {

namespace {

bool isWhole(const StrategyParameter& parameter)
{
    return parameter.low == std::floor(parameter.low) && parameter.value == std::floor(parameter.value) &&
           parameter.low >= 1;
}

/// The value that "name:a=1,b=2" gives a parameter, else its default.
double valueIn(const QString& words, const StrategyParameter& parameter)
{
    const QStringList parts = words.section(QLatin1Char(':'), 1).split(QLatin1Char(','), Qt::SkipEmptyParts);
    for (const QString& part : parts) {
        if (part.section(QLatin1Char('='), 0, 0).trimmed() == format::text(parameter.name)) {
            return part.section(QLatin1Char('='), 1).toDouble();
        }
    }
    return parameter.value;
}

} // namespace

StrategyDialog::StrategyDialog(std::vector<StrategyDescription> strategies, const QString& words, QWidget* parent)
    : QDialog(parent), m_strategies(std::move(strategies)), m_choice(new QComboBox), m_meaning(new QLabel),
      m_parameters(new QFormLayout)
{
    setWindowTitle(tr("Strategy"));
    const QString now = words.section(QLatin1Char(':'), 0, 0);
    for (const StrategyDescription& strategy : m_strategies) {
        m_choice->addItem(format::text(strategy.name));
    }
    m_choice->setCurrentText(now);
    m_choice->setAccessibleName(tr("Strategy"));
    m_meaning->setWordWrap(true);
    m_meaning->setTextFormat(Qt::PlainText);
    m_parameters->setSpacing(8);
    auto* after = new QLabel(tr("It takes over at the next choice; the tree stays as it is."));
    after->setWordWrap(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    buttons->addButton(tr("Set"), QDialogButtonBox::AcceptRole)->setDefault(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 12);
    layout->setSpacing(8);
    layout->addWidget(m_choice);
    layout->addWidget(m_meaning);
    layout->addLayout(m_parameters);
    layout->addStretch();
    layout->addWidget(after);
    layout->addWidget(buttons);
    setMinimumWidth(420);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_choice, &QComboBox::currentIndexChanged, this,
            [this, words, now] { showParameters(m_choice->currentText() == now ? words : QString()); });
    showParameters(words);
}

void StrategyDialog::showParameters(const QString& given)
{
    while (m_parameters->rowCount() > 0) {
        m_parameters->removeRow(0);
    }
    m_values.clear();
    if (m_choice->currentIndex() < 0) {
        return;
    }
    const StrategyDescription& strategy = m_strategies[std::size_t(m_choice->currentIndex())];
    m_meaning->setText(format::text(strategy.meaning));
    for (const StrategyParameter& parameter : strategy.parameters) {
        auto* box = new QDoubleSpinBox;
        box->setDecimals(isWhole(parameter) ? 0 : 3);
        box->setRange(parameter.low, parameter.high);
        box->setValue(valueIn(given, parameter));
        box->setAccessibleName(format::text(parameter.name));
        box->setToolTip(tr("%1: %2 to %3; by itself %4")
                            .arg(format::text(parameter.name))
                            .arg(parameter.low)
                            .arg(parameter.high)
                            .arg(parameter.value));
        auto* name = new QLabel(format::text(parameter.meaning));
        name->setWordWrap(true);
        name->setBuddy(box);
        m_parameters->addRow(name, box);
        m_values.push_back(box);
    }
}

QString StrategyDialog::words() const
{
    QString words = m_choice->currentText();
    if (m_choice->currentIndex() < 0) {
        return words;
    }
    const auto& parameters = m_strategies[std::size_t(m_choice->currentIndex())].parameters;
    QStringList given;
    for (std::size_t i = 0; i < m_values.size(); ++i) {
        if (std::abs(m_values[i]->value() - parameters[i].value) > 1e-9) {
            given += QStringLiteral("%1=%2").arg(format::text(parameters[i].name)).arg(m_values[i]->value());
        }
    }
    return given.isEmpty() ? words : words + QLatin1Char(':') + given.join(QLatin1Char(','));
}

} // namespace espalier
