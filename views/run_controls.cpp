// SPDX-License-Identifier: GPL-3.0-only
#include "views/run_controls.h"

#include "views/format.h"
#include "views/limits_dialog.h"
#include "views/sign_icon.h"
#include "views/steer_commands.h"
#include "views/strategy_dialog.h"
#include "views/workbench.h"

#include <QAction>
#include <QLabel>
#include <QToolBar>
#include <QToolButton>

namespace espalier {

RunControls::RunControls(Workbench& bench, QObject* parent)
    : QObject(parent), m_bench(bench), m_run(new QAction(tr("Run"), this)), m_pause(new QAction(tr("Pause"), this)),
      m_step(new QAction(tr("Step"), this)), m_stop(new QAction(tr("Stop"), this)),
      m_limits(new QAction(tr("Change limits…"), this)), m_strategy(new QAction(tr("Change strategy…"), this))
{
    m_run->setShortcut(QKeySequence(Qt::Key_F5));
    m_pause->setShortcut(QKeySequence(Qt::Key_F6));
    m_step->setShortcut(QKeySequence(Qt::Key_F10));
    m_stop->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_F5));
    connect(m_run, &QAction::triggered, this, [this] { m_bench.bridge().send(command::Run{}); });
    connect(m_pause, &QAction::triggered, this, [this] { m_bench.bridge().send(command::Pause{}); });
    connect(m_step, &QAction::triggered, this, [this] { m_bench.bridge().send(command::Step{}); });
    connect(m_stop, &QAction::triggered, this, [this] { m_bench.stopSearch(); });
    m_limits->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L));
    m_strategy->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S));
    connect(m_limits, &QAction::triggered, this, &RunControls::changeLimits);
    connect(m_strategy, &QAction::triggered, this, &RunControls::changeStrategy);
    connect(&bench, &Workbench::planChanged, this, &RunControls::update);
    connect(&bench, &Workbench::sessionOpened, this, &RunControls::update);
    connect(&bench, &Workbench::sessionClosed, this, &RunControls::update);
    connect(&bench.nodes(), &NodeStore::statusChanged, this, &RunControls::update);
    connect(&bench.nodes(), &NodeStore::updated, this, &RunControls::update);
    connect(&bench.themes(), &ThemeManager::themeChanged, this, &RunControls::updateIcons);
    updateIcons();
    update();
}

void RunControls::addTo(QToolBar* bar)
{
    bar->addActions({m_run, m_pause, m_step, m_stop});
    bar->addSeparator();
    m_budget = new QToolButton;
    m_budget->setAutoRaise(true);
    m_budget->setAccessibleName(tr("Budget"));
    connect(m_budget, &QToolButton::clicked, this, &RunControls::changeLimits);
    m_best = new QLabel;
    m_best->setAccessibleName(tr("Best candidate"));
    m_device = new QLabel;
    m_device->setAccessibleName(tr("Device"));
    for (QLabel* label : {m_best, m_device}) {
        label->setTextFormat(Qt::RichText);
        label->setContentsMargins(8, 0, 8, 0);
    }
    m_searchedBy = new QToolButton;
    m_searchedBy->setAutoRaise(true);
    m_searchedBy->setAccessibleName(tr("Strategy"));
    connect(m_searchedBy, &QToolButton::clicked, this, &RunControls::changeStrategy);
    bar->addWidget(m_budget);
    bar->addWidget(m_searchedBy);
    bar->addSeparator();
    bar->addWidget(m_best);
    bar->addSeparator();
    bar->addWidget(m_device);
    update();
}

void RunControls::updateIcons()
{
    const Theme& theme = m_bench.theme();
    m_run->setIcon(themedIcon(QStringLiteral("run"), theme, Token::Passed));
    m_pause->setIcon(themedIcon(QStringLiteral("pause"), theme));
    m_step->setIcon(themedIcon(QStringLiteral("step"), theme));
    m_stop->setIcon(themedIcon(QStringLiteral("stop"), theme, Token::Incorrect));
}

void RunControls::update()
{
    const RunState state = m_bench.nodes().status().state;
    const bool open = m_bench.session().has_value();
    const bool running = state == RunState::Running, pausing = state == RunState::Pausing;
    const auto set = [&](QAction* action, const QString& whyNot, const QString& what) {
        const QString reason = m_bench.whyNotSearched().isEmpty() ? whyNot : m_bench.whyNotSearched();
        action->setEnabled(reason.isEmpty());
        action->setToolTip((reason.isEmpty() ? what : reason) +
                           QStringLiteral(" (%1)").arg(action->shortcut().toString(QKeySequence::NativeText)));
    };
    set(m_run, running ? tr("The search is running") : QString(), tr("Search on"));
    set(m_pause,
        pausing   ? tr("Pausing: what is running ends first")
        : running ? QString()
                  : tr("Nothing is running"),
        tr("Start nothing new; what is running ends and is kept"));
    set(m_step, running || pausing ? tr("Pause first: a step is one expansion by itself") : QString(),
        tr("One evaluation, of what waits or else of one expansion; then pause"));
    set(m_stop, running || pausing ? QString() : tr("Nothing is running"),
        tr("Abandon what is running now; it goes back to the queue"));
    const bool steered = m_bench.whyNotSearched().isEmpty();
    for (QAction* action : {m_limits, m_strategy}) {
        action->setEnabled(steered);
        action->setToolTip(steered ? action->iconText() : m_bench.whyNotSearched());
    }
    if (!m_budget) {
        return;
    }
    m_budget->setEnabled(steered);
    m_budget->setText(open ? format::budget(m_bench.nodes().status()) : tr("no budget"));
    m_budget->setToolTip(steered ? tr("Spent and left; click to change the limits") : m_bench.whyNotSearched());
    m_searchedBy->setEnabled(steered);
    m_searchedBy->setText(open ? tr("strategy %1").arg(format::text(m_bench.strategy()).section(QLatin1Char(':'), 0, 0))
                               : QString());
    m_searchedBy->setToolTip(steered
                                 ? tr("The strategy is %1; click to change it").arg(format::text(m_bench.strategy()))
                                 : m_bench.whyNotSearched());
    m_best->setText(open ? bestText() : QString());
    m_device->setText(open ? tr("device <b>%1</b> (%2)")
                                 .arg(format::text(m_bench.session()->deviceName).toHtmlEscaped(),
                                      format::provenance(m_bench.provenance()))
                           : QString());
    m_device->setToolTip(open && m_bench.provenance() == Provenance::Model
                             ? tr("Simulated device: figures are modelled, never measured")
                             : QString());
}

QString RunControls::bestText() const
{
    const RunStatus& status = m_bench.nodes().status();
    if (!status.best || !status.bestSpeedupRoot) {
        return tr("best <b>–</b>");
    }
    const auto figure = [this](const Interval& speedup) {
        const QString text =
            QStringLiteral("<b>%1</b> %2").arg(format::speedup(speedup, m_bench.provenance()), format::bounds(speedup));
        return m_bench.provenance() == Provenance::Model ? QStringLiteral("<i>%1</i>").arg(text) : text;
    };
    // What serves today is the headline; without it the root is. What a library does is said with either.
    const int best = m_bench.nodes().bestIndex();
    const auto library = best >= 0 ? m_bench.nodes().library(best) : std::nullopt;
    const QString beside = library ? tr(" · <b>%1</b> vs %2")
                                         .arg(format::ratio(library->speedup, m_bench.provenance()),
                                              format::text(library->name).toHtmlEscaped())
                                   : QString();
    if (best >= 0 && m_bench.nodes().at(best).speedupIncumbent) {
        return tr("best %1 vs incumbent").arg(figure(*m_bench.nodes().at(best).speedupIncumbent)) + beside;
    }
    return tr("best %1 vs root").arg(figure(*status.bestSpeedupRoot)) + beside;
}

void RunControls::changeLimits()
{
    auto* dialog = new LimitsDialog(m_bench.nodes().status().budget, m_budget ? m_budget->window() : nullptr);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        const Budget before = m_bench.nodes().status().budget;
        if (dialog->budget() != before) {
            steer(m_bench, tr("Limits"), command::SetBudget{dialog->budget()}, command::SetBudget{before});
        }
        if (dialog->runs()) {
            m_bench.bridge().send(command::Run{});
        }
    });
    dialog->open();
}

void RunControls::changeStrategy()
{
    const std::string before = m_bench.strategy();
    auto* dialog = new StrategyDialog(m_bench.bridge().strategies(), format::text(before),
                                      m_budget ? m_budget->window() : nullptr);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog, before] {
        if (const std::string words = dialog->words().toStdString(); words != before) {
            steer(m_bench, tr("Strategy %1").arg(dialog->words()), command::SetStrategy{words},
                  command::SetStrategy{before});
        }
    });
    dialog->open();
}

} // namespace espalier
