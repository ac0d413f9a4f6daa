// SPDX-License-Identifier: GPL-3.0-only
#include "views/welcome_panel.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace espalier {

WelcomePanel::WelcomePanel(QWidget* parent) : QWidget(parent)
{
    auto* title = new QLabel(tr("Grow a faster kernel"));
    QFont large = title->font();
    large.setPointSizeF(large.pointSizeF() * 1.8);
    title->setFont(large);
    auto* what =
        new QLabel(tr("Espalier searches for a faster CUDA kernel of a task, checks every candidate against an oracle, "
                      "times it beside its parent, and lets you pin and prune branches while it runs."));
    what->setWordWrap(true);

    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(12);
    int row = 0;
    const auto add = [&](const QString& name, const QString& words, void (WelcomePanel::*wanted)(), bool first) {
        auto* button = new QPushButton(name);
        button->setMinimumHeight(36);
        button->setMinimumWidth(180);
        button->setDefault(first);
        connect(button, &QPushButton::clicked, this, wanted);
        auto* label = new QLabel(words);
        label->setWordWrap(true);
        label->setMinimumWidth(320);
        grid->addWidget(button, row, 0);
        grid->addWidget(label, row++, 1);
    };
    add(tr("Sample search"),
        tr("Row softmax on the simulated device: needs no GPU, takes a few minutes. Its figures are modelled."),
        &WelcomePanel::sampleWanted, true);
    add(tr("New session…"), tr("Choose a task, a device and a budget."), &WelcomePanel::newWanted, false);
    add(tr("Open…"), tr("Go on with a session file (.espalier)."), &WelcomePanel::openWanted, false);

    auto* column = new QVBoxLayout;
    column->setSpacing(16);
    column->addWidget(title);
    column->addWidget(what);
    column->addSpacing(8);
    column->addLayout(grid);
    auto* box = new QWidget;
    box->setLayout(column);
    box->setMaximumWidth(620);
    auto* layout = new QGridLayout(this);
    layout->addWidget(box, 1, 1);
    layout->setRowStretch(0, 1);
    layout->setRowStretch(2, 2);
    layout->setColumnStretch(0, 1);
    layout->setColumnStretch(1, 4);
    layout->setColumnStretch(2, 1);
}

} // namespace espalier
