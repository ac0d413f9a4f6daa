// SPDX-License-Identifier: GPL-3.0-only
#include "views/tree_panel.h"

#include "views/format.h"
#include "views/sign_icon.h"
#include "views/tree_view.h"
#include "views/workbench.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QResizeEvent>
#include <QToolButton>
#include <cmath>

namespace espalier {

namespace {

QToolButton* barButton(const QString& text, const QString& tip, bool checkable)
{
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(text);
    button->setCheckable(checkable);
    button->setAutoRaise(true);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    return button;
}

} // namespace

TreePanel::TreePanel(Workbench& bench, QWidget* parent)
    : QWidget(parent), m_bench(bench), m_view(new TreeView(bench)), m_what(new QLabel), m_zoom(new QLabel),
      m_best(barButton(tr("Best"), tr("Select the best candidate (B)"), false)),
      m_fit(barButton(tr("Fit"), tr("Show the whole tree (F)"), false)),
      m_lineages(barButton(tr("Best lineages"),
                           tr("Fold everything but pins, running work and the ways to the fastest candidates"), true)),
      m_follow(
          barButton(tr("Follow"), tr("Move the view to the newest work; off, the view never moves by itself"), true))
{
    m_what->setTextFormat(Qt::PlainText);
    m_what->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); // gives way to the buttons
    m_zoom->setMinimumWidth(44);
    m_zoom->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(12, 4, 8, 4);
    bar->setSpacing(4);
    bar->addWidget(m_what, 1);
    for (QToolButton* button : {m_best, m_fit, m_lineages, m_follow}) {
        bar->addWidget(button);
    }
    bar->addWidget(m_zoom);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(m_view, 1);

    connect(m_best, &QToolButton::clicked, m_view, &TreeView::showBest);
    connect(m_fit, &QToolButton::clicked, m_view, &TreeView::fit);
    connect(m_lineages, &QToolButton::toggled, m_view, &TreeView::setBestLineages);
    connect(m_follow, &QToolButton::toggled, m_view, &TreeView::setFollow);
    connect(m_view, &TreeView::zoomChanged, this, &TreePanel::updateBar);
    connect(m_view, &TreeView::foldingChanged, this, &TreePanel::updateBar);
    connect(&bench.nodes(), &NodeStore::updated, this, &TreePanel::updateBar);
    connect(&bench.nodes(), &NodeStore::statusChanged, this, &TreePanel::updateBar);
    connect(&bench.themes(), &ThemeManager::themeChanged, this, &TreePanel::updateIcons);
    updateIcons();
    updateBar();
}

void TreePanel::updateIcons()
{
    const Theme& theme = m_bench.theme();
    m_best->setIcon(themedIcon(QStringLiteral("best"), theme));
    m_fit->setIcon(themedIcon(QStringLiteral("fit"), theme));
    m_lineages->setIcon(themedIcon(QStringLiteral("lineages"), theme));
    m_follow->setIcon(themedIcon(QStringLiteral("follow"), theme));
}

void TreePanel::updateBar()
{
    const RunStatus& status = m_bench.nodes().status();
    m_best->setEnabled(m_bench.nodes().bestIndex() >= 0);
    m_lineages->setChecked(m_view->scene().fold().bestLineages());
    m_zoom->setText(QStringLiteral("%1 %").arg(std::lround(m_view->zoom() * 100)));
    const QString what = m_bench.session() ? tr("%1 nodes · %2 passed · %3 rejected · %4 not built · %5 not run")
                                                 .arg(m_bench.nodes().count())
                                                 .arg(status.passed)
                                                 .arg(status.rejected)
                                                 .arg(status.failed)
                                                 .arg(status.notRun)
                                           : QString();
    m_what->setText(m_what->fontMetrics().elidedText(what, Qt::ElideRight, m_what->width()));
    m_what->setToolTip(what);
}

void TreePanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    updateBar(); // its words have more room, or less
}

} // namespace espalier
