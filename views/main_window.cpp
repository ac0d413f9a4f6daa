// SPDX-License-Identifier: GPL-3.0-only
#include "views/main_window.h"

#include "views/banner.h"
#include "views/command_palette.h"
#include "views/comparison.h"
#include "views/cross_mode.h"
#include "views/departure.h"
#include "views/dropped_file.h"
#include "views/format.h"
#include "views/inspector.h"
#include "views/leaderboard_panel.h"
#include "views/log_model.h"
#include "views/metric_panel.h"
#include "views/nsight.h"
#include "views/outline_panel.h"
#include "views/plan_panel.h"
#include "views/profile_shelf.h"
#include "views/roofline_panel.h"
#include "views/run_controls.h"
#include "views/run_journal.h"
#include "views/scrolling.h"
#include "views/session_actions.h"
#include "views/source_panel.h"
#include "views/standing_panel.h"
#include "views/steering.h"
#include "views/tree_panel.h"
#include "views/tree_view.h"
#include "views/welcome_panel.h"
#include "views/workbench.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QListView>
#include <QMimeData>
#include <QProgressBar>
#include <QScreen>
#include <QScrollBar>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

namespace {
constexpr int stateVersion = 3; ///< of the saved dock layout; raise it when docks change
}

MainWindow::MainWindow(Workbench& bench, QSettings& settings)
    : m_bench(bench), m_settings(settings), m_controls(new RunControls(bench, this)),
      m_steering(new Steering(bench, this)), m_departure(new Departure(bench, this)),
      m_sessions(new SessionActions(bench, *m_departure, settings, this)), m_tree(new TreePanel(bench)),
      m_inspector(new Inspector(bench)), m_outline(new OutlinePanel(bench)), m_plan(new PlanPanel(bench)),
      m_standing(new StandingPanel(bench)), m_crossing(new CrossMode(bench, this)),
      m_nsight(new Nsight(bench, findNsight(), this)), m_leaderboard(new LeaderboardPanel(bench)),
      m_shelf(new ProfileShelf(bench, this)), m_comparison(new Comparison(bench, this)),
      m_metrics(new MetricPanel(bench, *m_shelf, *m_comparison, settings)),
      m_roofline(new RooflinePanel(bench, *m_shelf, *m_comparison)), m_log(new LogModel(20000, this)),
      m_logView(new QListView), m_banner(new Banner(bench.themes())), m_pages(new QStackedWidget), m_status(new QLabel),
      m_opening(new QProgressBar)
{
    setObjectName(QStringLiteral("main"));
    setAcceptDrops(true);
    setDockNestingEnabled(true);
    setMinimumSize(800, 500);
    buildPanels();
    connectSteering();
    buildToolBar();
    buildMenus();
    connectSession();
    const QSize room = screen()->availableSize();
    resize(std::min(1680, room.width() * 9 / 10), std::min(1000, room.height() * 9 / 10));
    restoreGeometry(m_settings.value(QStringLiteral("window/geometry")).toByteArray());
    showSession(false);
    updateStatus();
    updateTitle();
}

MainWindow::~MainWindow() = default;

QDockWidget* MainWindow::addPanel(const QString& name, const QString& title, QWidget* panel, Qt::DockWidgetArea area)
{
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    // A panel that needs more room than there is scrolls: what docks need together must never exceed the window, or
    // they lie on each other.
    QScrollArea* room = scrolling(panel);
    room->setMinimumSize(120, 80);
    dock->setWidget(room);
    addDockWidget(area, dock);
    return dock;
}

void MainWindow::buildPanels()
{
    auto* welcome = new WelcomePanel;
    connect(welcome, &WelcomePanel::sampleWanted, m_sessions, &SessionActions::openSample);
    connect(welcome, &WelcomePanel::newWanted, this, [this] { m_sessions->startNew(); });
    connect(welcome, &WelcomePanel::openWanted, m_sessions, &SessionActions::chooseFile);
    m_pages->addWidget(welcome);
    m_pages->addWidget(m_tree);
    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addWidget(m_pages, 1);
    setCentralWidget(centre);

    setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    m_leaderboardDock =
        addPanel(QStringLiteral("leaderboard"), tr("Leaderboard"), m_leaderboard, Qt::LeftDockWidgetArea);
    m_planDock = addPanel(QStringLiteral("plan"), tr("Plan"), m_plan, Qt::LeftDockWidgetArea);
    m_outlineDock = addPanel(QStringLiteral("outline"), tr("Outline"), m_outline, Qt::LeftDockWidgetArea);
    m_standingDock = addPanel(QStringLiteral("standing"), tr("Hints and bans"), m_standing, Qt::LeftDockWidgetArea);
    m_inspectorDock = addPanel(QStringLiteral("inspector"), tr("Inspector"), m_inspector, Qt::RightDockWidgetArea);
    m_metricsDock = addPanel(QStringLiteral("metrics"), tr("Metrics"), m_metrics, Qt::RightDockWidgetArea);
    m_rooflineDock = addPanel(QStringLiteral("roofline"), tr("Roofline"), m_roofline, Qt::RightDockWidgetArea);
    setTabPosition(Qt::RightDockWidgetArea, QTabWidget::North);
    m_logDock = addPanel(QStringLiteral("log"), tr("Log"), m_logView, Qt::BottomDockWidgetArea);
    splitDockWidget(m_leaderboardDock, m_planDock, Qt::Vertical);
    tabifyDockWidget(m_planDock, m_outlineDock);
    tabifyDockWidget(m_outlineDock, m_standingDock);
    setTabPosition(Qt::LeftDockWidgetArea, QTabWidget::North);
    m_planDock->raise();

    m_logView->setModel(m_log);
    m_logView->setUniformItemSizes(true);
    m_logView->setSpacing(1);
    m_logView->setFrameShape(QFrame::NoFrame);
    m_logView->setFont(codeFont());
    m_logView->setAccessibleName(tr("Log"));
    m_logView->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_logView->setEditTriggers(QAbstractItemView::NoEditTriggers);
    connect(m_roofline, &RooflinePanel::exported, this,
            [this](const QString& file) { statusBar()->showMessage(tr("Exported the chart to %1").arg(file), 5000); });
    connect(m_roofline, &RooflinePanel::exportFailed, this,
            [this](const QString& sentence) { m_banner->say(Banner::Kind::Problem, sentence); });
}

void MainWindow::connectSession()
{
    EngineBridge& bridge = m_bench.bridge();
    connect(&m_bench, &Workbench::sessionOpened, this, [this] {
        m_opening->hide();
        if (m_bench.bridge().viewedBecause().isEmpty()) {
            m_banner->dismiss();
        } else {
            m_banner->say(Banner::Kind::Note, m_bench.whyNotSearched());
        }
        showSession(true);
        updateTitle();
        updateStatus();
        m_tree->view()->setFocus();
    });
    connect(&m_bench, &Workbench::sessionClosed, this, [this] {
        m_opening->setVisible(m_bench.bridge().isOpening()); // closing ends that too
        m_log->clear();
        showSession(false);
        updateTitle();
        updateStatus();
    });
    connect(&m_bench.nodes(), &NodeStore::statusChanged, this, &MainWindow::updateStatus);
    connect(&bridge, &EngineBridge::opening, this, &MainWindow::showOpening);
    connect(&bridge, &EngineBridge::openFailed, this, [this](const Error& error) {
        m_opening->hide();
        m_banner->say(Banner::Kind::Problem, format::text(error.message));
        updateStatus();
    });
    connect(&bridge, &EngineBridge::closed, this, [this](const std::optional<Error>& error) {
        if (error) {
            m_banner->say(Banner::Kind::Problem, format::text(error->message));
        }
    });
    connect(&bridge, &EngineBridge::commandFailed, this, [this](const QString&, const Error& error) {
        m_banner->say(Banner::Kind::Problem, format::text(error.message));
    });
    const auto note = [this](const QString& sentence) { m_banner->say(Banner::Kind::Note, sentence); };
    connect(m_sessions, &SessionActions::said, this, note);
    connect(m_departure, &Departure::waiting, this, note);
    connect(&bridge, &EngineBridge::exported, this, [this](NodeId node, const QStringList& files) {
        m_banner->say(Banner::Kind::Note,
                      tr("Exported node %1: %2").arg(node.value).arg(files.join(QStringLiteral(", "))));
    });
    connect(&bridge, &EngineBridge::runEnded, this, &MainWindow::tellEnd);
    const auto log = [this](const QList<QPair<QString, QString>>& lines) {
        QScrollBar* bar = m_logView->verticalScrollBar();
        const bool atEnd = bar->value() == bar->maximum(); // who reads further up is left there
        m_log->append(lines);
        if (atEnd) {
            m_logView->scrollToBottom();
        }
    };
    connect(&bridge, &EngineBridge::logged, this, log);
    connect(new RunJournal(m_bench.nodes(), this), &RunJournal::written, this, log);
}

/// Also where nothing could be done at all: a budget that is used up ends a run as it begins.
void MainWindow::tellEnd(const RunSummary& summary)
{
    const bool failed = m_bench.nodes().status().state == RunState::Failed;
    QString sentence =
        (failed ? tr("The run failed: %1.") : tr("The run has ended: %1.")).arg(format::text(summary.why));
    const int best = m_bench.nodes().bestIndex();
    if (best >= 0) {
        const NodeSummary& node = m_bench.nodes().at(best);
        sentence += tr(" Best: %1  %2").arg(node.id.value).arg(format::text(node.title));
        if (node.speedupRoot) {
            sentence += tr(", %1 vs root").arg(format::speedup(*node.speedupRoot, m_bench.provenance()));
        }
        if (const auto library = m_bench.nodes().library(best)) {
            sentence += tr(", %1 vs %2")
                            .arg(format::ratio(library->speedup, m_bench.provenance()), format::text(library->name));
        }
        sentence += QLatin1Char('.');
    }
    auto* exportBest = new QAction(tr("Export the best…"), m_banner);
    connect(exportBest, &QAction::triggered, this, [this] {
        if (const auto now = m_bench.nodes().status().best) {
            exportNode(now->value);
        }
    });
    exportBest->setEnabled(best >= 0);
    m_banner->say(failed ? Banner::Kind::Problem : Banner::Kind::Note, sentence,
                  {m_steering->action(Act::ToBest), exportBest, m_controls->limits()});
    QApplication::alert(this); // whoever looks elsewhere is told by the desktop
}

void MainWindow::showSession(bool open)
{
    if (!open && m_sessionShown) {
        saveState();
    }
    m_pages->setCurrentIndex(open ? 1 : 0);
    if (open && !m_sessionShown) {
        if (!restoreState(m_settings.value(QStringLiteral("window/docks")).toByteArray(), stateVersion)) {
            applyLayout(Layout::Search);
        }
    } else if (!open) {
        for (QDockWidget* dock : docks()) {
            dock->hide();
        }
    }
    m_sessionShown = open;
}

QList<QDockWidget*> MainWindow::docks() const
{
    return {m_leaderboardDock, m_planDock,    m_outlineDock,  m_standingDock,
            m_inspectorDock,   m_metricsDock, m_rooflineDock, m_logDock};
}

void MainWindow::applyLayout(Layout layout)
{
    const bool search = layout == Layout::Search;
    for (QDockWidget* dock : docks()) {
        dock->setFloating(false);
    }
    for (QDockWidget* dock : {m_leaderboardDock, m_planDock, m_outlineDock, m_standingDock, m_logDock}) {
        dock->setVisible(search);
    }
    m_inspectorDock->show();
    m_metricsDock->show();
    m_rooflineDock->show();
    if (layout == Layout::Compare) { // metrics and roofline below the diff
        for (QDockWidget* dock : {m_inspectorDock, m_metricsDock, m_rooflineDock}) {
            removeDockWidget(dock); // what is a tab stays one, however it is split
        }
        addDockWidget(Qt::RightDockWidgetArea, m_inspectorDock);
        m_inspectorDock->show();
        splitDockWidget(m_inspectorDock, m_metricsDock, Qt::Vertical);
        splitDockWidget(m_metricsDock, m_rooflineDock, Qt::Horizontal);
        m_metricsDock->show();
        m_rooflineDock->show();
        resizeDocks({m_inspectorDock, m_metricsDock}, {height() * 50 / 100, height() * 42 / 100}, Qt::Vertical);
    } else { // one behind the other
        tabifyDockWidget(m_inspectorDock, m_metricsDock);
        tabifyDockWidget(m_metricsDock, m_rooflineDock);
        m_inspectorDock->raise();
    }
    const int wide = width() * (search ? 35 : layout == Layout::Compare ? 66 : 76) / 100;
    constexpr int leastLeft = 300; // names and a figure beside them
    if (search) {
        resizeDocks({m_leaderboardDock, m_inspectorDock}, {std::max(width() * 21 / 100, leastLeft), wide},
                    Qt::Horizontal);
    } else {
        resizeDocks({m_inspectorDock}, {wide}, Qt::Horizontal);
    }
    if (layout == Layout::Compare) {
        resizeDocks({m_metricsDock, m_rooflineDock}, {wide / 2, wide / 2}, Qt::Horizontal);
    }
    resizeDocks({m_leaderboardDock, m_planDock}, {height() * 35 / 100, height() * 50 / 100}, Qt::Vertical);
    m_planDock->raise();
    resizeDocks({m_logDock}, {height() * 16 / 100}, Qt::Vertical);
    if (layout == Layout::Compare) {
        m_inspector->showTab(Inspector::Diff);
    } else if (layout == Layout::Source) {
        m_inspector->showTab(Inspector::Source);
        m_inspector->source()->showListings(true);
    }
}

/// The session that is shown meanwhile stays as it is: nothing is said of the other one before all of it was read.
void MainWindow::showOpening(const QString& file)
{
    const QFileInfo about(file);
    m_status->setText(about.exists()
                          ? tr("opening %1 (%2)…").arg(about.fileName(), locale().formattedDataSize(about.size()))
                          : tr("starting %1…").arg(about.fileName()));
    m_opening->show();
}

void MainWindow::updateStatus()
{
    if (m_bench.bridge().isOpening()) {
        return; // it says so
    }
    m_status->setText(!m_bench.session() ? tr("no session")
                      : !m_bench.bridge().viewedBecause().isEmpty()
                          ? tr("looked at only")
                          : format::statusLine(m_bench.nodes().status(), m_bench.provenance()));
}

void MainWindow::updateTitle()
{
    const auto& session = m_bench.session();
    const bool viewed = !m_bench.bridge().viewedBecause().isEmpty();
    setWindowTitle(session ? (viewed ? tr("%1 — %2 (read only) — Espalier") : tr("%1 — %2 — Espalier"))
                                 .arg(format::text(session->taskId), QFileInfo(format::text(session->file)).fileName())
                           : tr("Espalier"));
}

void MainWindow::saveState()
{
    m_settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    m_settings.setValue(QStringLiteral("window/docks"), QMainWindow::saveState(stateVersion));
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (m_sessionShown) {
        saveState();
    } else {
        m_settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    }
    event->setAccepted(m_departure->mayClose());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (droppedFile(*event->mimeData()).kind == DroppedFile::Kind::Session) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event)
{
    m_sessions->openFile(droppedFile(*event->mimeData()).file);
}

/// What stands behind another panel keeps its widgets "visible", far outside the window: the keyboard does not go
/// there.
bool MainWindow::focusNextPrevChild(bool next)
{
    const auto takesFocus = [this](const QWidget* widget) {
        if ((widget->focusPolicy() & Qt::TabFocus) != Qt::TabFocus || widget->focusProxy() || !widget->isEnabled() ||
            widget->window() != this || !widget->isVisibleTo(this)) {
            return false;
        }
        while (widget != this && widget->parentWidget() != this) { // a dock, a tool bar, the tabs of docks, the centre
            widget = widget->parentWidget();
        }
        return widget != this && rect().intersects(widget->geometry());
    };
    const auto step = [next](const QWidget* widget) {
        return next ? widget->nextInFocusChain() : widget->previousInFocusChain();
    };
    QWidget* const from = focusWidget() ? focusWidget() : this;
    for (QWidget* widget = step(from); widget != from; widget = step(widget)) {
        if (takesFocus(widget)) {
            widget->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
            return true;
        }
    }
    return false;
}

} // namespace espalier
