// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QMainWindow>

class QDockWidget;
class QProgressBar;
class QLabel;
class QListView;
class QMenu;
class QSettings;
class QStackedWidget;

namespace espalier {

class Banner;
class Comparison;
class CommandPalette;
class CrossMode;
class Departure;
class Inspector;
class LeaderboardPanel;
class LogModel;
class MetricPanel;
class Nsight;
class OutlinePanel;
class PlanPanel;
class ProfileShelf;
class RooflinePanel;
class RunControls;
struct RunSummary;
class SessionActions;
class StandingPanel;
class Steering;
class TreePanel;
class Workbench;

/// The window: docks, menus, toolbar, status bar; it connects panels and decides nothing else. Thread: GUI. The bench
/// and the settings belong to the caller and outlive it.
class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    enum class Layout { Search, Compare, Source };

    MainWindow(Workbench& bench, QSettings& settings);
    ~MainWindow() override;

    SessionActions& sessions() { return *m_sessions; }
    Inspector& inspector() { return *m_inspector; }
    TreePanel& tree() { return *m_tree; }
    OutlinePanel& outline() { return *m_outline; }
    PlanPanel& plan() { return *m_plan; }
    StandingPanel& standing() { return *m_standing; }
    CrossMode& crossing() { return *m_crossing; }
    MetricPanel& metrics() { return *m_metrics; }
    RooflinePanel& roofline() { return *m_roofline; }
    Comparison& comparison() { return *m_comparison; }
    RunControls& controls() { return *m_controls; }
    Steering& steering() { return *m_steering; }
    Banner& banner() { return *m_banner; }
    Departure& departure() { return *m_departure; }
    void applyLayout(Layout layout);
    QList<QAction*> allActions() const;

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    bool focusNextPrevChild(bool next) override;

private:
    QDockWidget* addPanel(const QString& name, const QString& title, QWidget* panel, Qt::DockWidgetArea area);
    void buildPanels();
    void connectSteering();
    void showPanel(QDockWidget* dock);
    QList<QDockWidget*> docks() const;
    void buildToolBar();
    void buildMenus();
    void buildViewMenu(QMenu* menu);
    void buildThemeMenu(QMenu* menu);
    void connectSession();
    void showSession(bool open);
    void showOpening(const QString& file);
    void tellEnd(const RunSummary& summary);
    void updateStatus();
    void updateTitle();
    void exportNode(qlonglong node);
    void saveState();

    Workbench& m_bench;
    QSettings& m_settings;
    RunControls* m_controls;
    Steering* m_steering;
    Departure* m_departure;
    SessionActions* m_sessions;
    TreePanel* m_tree;
    Inspector* m_inspector;
    OutlinePanel* m_outline;
    PlanPanel* m_plan;
    StandingPanel* m_standing;
    CrossMode* m_crossing;
    Nsight* m_nsight;
    LeaderboardPanel* m_leaderboard;
    ProfileShelf* m_shelf;
    Comparison* m_comparison;
    MetricPanel* m_metrics;
    RooflinePanel* m_roofline;
    LogModel* m_log;
    QListView* m_logView;
    Banner* m_banner;
    QStackedWidget* m_pages;
    QLabel* m_status;
    QProgressBar* m_opening; ///< beside the status while a session is read
    QDockWidget *m_leaderboardDock, *m_planDock, *m_outlineDock, *m_standingDock, *m_inspectorDock, *m_metricsDock,
        *m_rooflineDock, *m_logDock;
    bool m_sessionShown = false;
};

} // namespace espalier
