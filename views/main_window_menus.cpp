// SPDX-License-Identifier: GPL-3.0-only
// Menus and toolbar of MainWindow.
#include "views/command_palette.h"
#include "views/inspector.h"
#include "views/main_window.h"
#include "views/outline_panel.h"
#include "views/run_controls.h"
#include "views/session_actions.h"
#include "views/sign_icon.h"
#include "views/source_panel.h"
#include "views/standing_panel.h"
#include "views/steering.h"
#include "views/tree_panel.h"
#include "views/tree_view.h"
#include "views/workbench.h"

#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QProgressBar>
#include <QSettings>
#include <QStatusBar>
#include <QToolBar>

namespace espalier {

void MainWindow::buildToolBar()
{
    QToolBar* bar = addToolBar(tr("Run"));
    bar->setObjectName(QStringLiteral("run"));
    bar->setMovable(false);
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    bar->setIconSize({20, 20});
    m_controls->addTo(bar);
    auto* gap = new QWidget;
    gap->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(gap);
    auto* palette = new QAction(tr("Palette"), this);
    palette->setObjectName(QStringLiteral("palette"));
    palette->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P));
    palette->setToolTip(tr("Every act by name (Ctrl+Shift+P)"));
    connect(palette, &QAction::triggered, this, [this] { (new CommandPalette(m_bench, allActions(), this))->show(); });
    const auto icons = [this, palette] { palette->setIcon(themedIcon(QStringLiteral("palette"), m_bench.theme())); };
    connect(&m_bench.themes(), &ThemeManager::themeChanged, palette, icons);
    icons();
    bar->addAction(palette);
    addAction(palette);
    m_opening->setRange(0, 0); // nobody knows how long a session is before it was read
    m_opening->setFixedWidth(160);
    m_opening->setTextVisible(false);
    m_opening->setAccessibleName(tr("Opening a session"));
    m_opening->hide();
    statusBar()->addPermanentWidget(m_opening);
    statusBar()->addPermanentWidget(m_status);
}

void MainWindow::buildMenus()
{
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(tr("&New session…"), QKeySequence::New, this, [this] { m_sessions->startNew(); });
    file->addAction(tr("&Open…"), QKeySequence::Open, m_sessions, &SessionActions::chooseFile);
    QMenu* recent = file->addMenu(tr("Open &recent"));
    connect(recent, &QMenu::aboutToShow, this, [this, recent] { m_sessions->fillRecent(recent); });
    file->addAction(tr("&Sample search"), m_sessions, &SessionActions::openSample);
    file->addSeparator();
    file->addAction(tr("&Models…"), m_sessions, &SessionActions::editModels);
    file->addAction(m_steering->exportKernel());
    file->addSeparator();
    QAction* close = file->addAction(tr("&Close session"), QKeySequence::Close, m_sessions, &SessionActions::close);
    file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);

    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    QAction* undo = m_bench.undoStack().createUndoAction(this);
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = m_bench.undoStack().createRedoAction(this);
    redo->setShortcut(QKeySequence::Redo);
    edit->addActions({undo, redo});
    edit->addSeparator();
    edit->addAction(m_steering->copy());
    QAction* search =
        edit->addAction(tr("Search &nodes"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F), this, [this] {
            showPanel(m_outlineDock);
            m_outline->startSearch();
        });
    const auto showSource = [this] {
        showPanel(m_inspectorDock);
        m_inspector->showTab(Inspector::Source);
    };
    QAction* find = edit->addAction(tr("&Find in source"), this, [this, showSource] {
        showSource();
        m_inspector->source()->startFind();
    });

    for (QAction* hot : {m_inspector->source()->nextHot(), m_inspector->source()->previousHot()}) {
        edit->addAction(hot);
        connect(hot, &QAction::triggered, this, showSource);
    }

    QMenu* node = menuBar()->addMenu(tr("&Node"));
    node->setToolTipsVisible(true);
    m_steering->fill(node);

    QMenu* run = menuBar()->addMenu(tr("&Run"));
    run->setToolTipsVisible(true);
    run->addActions({m_controls->run(), m_controls->pause(), m_controls->step(), m_controls->stop()});
    run->addSeparator();
    run->addActions({m_controls->limits(), m_controls->strategy()});
    QAction* hint = run->addAction(tr("&New hint…"), QKeySequence(Qt::CTRL | Qt::Key_H), this, [this] {
        showPanel(m_standingDock);
        m_standing->startHint();
    });
    QAction* ban = run->addAction(tr("New &ban…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_B), this, [this] {
        showPanel(m_standingDock);
        m_standing->startBan();
    });

    buildViewMenu(menuBar()->addMenu(tr("&View")));

    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&Keys"), QKeySequence(Qt::Key_F1), this, [this] { showShortcuts(allActions(), this); });
    help->addAction(tr("&About Espalier"), this, [this] {
        QMessageBox::about(this, tr("About Espalier"),
                           tr("<b>Espalier %1</b><p>Grows and steers a search for a faster CUDA kernel.</p>"
                              "<p>The window is GPL-3.0-only, the engine Apache-2.0, what you export 0BSD.</p>")
                               .arg(QApplication::applicationVersion()));
    });
    const auto enable = [this, close, search, find, hint, ban] {
        for (QAction* action : {close, search, find}) {
            action->setEnabled(m_bench.session().has_value());
        }
        const QString whyNot = m_bench.whyNotSearched();
        for (QAction* action : {hint, ban}) {
            action->setEnabled(whyNot.isEmpty());
            action->setToolTip(whyNot.isEmpty() ? action->iconText() : whyNot);
        }
    };
    connect(&m_bench, &Workbench::sessionOpened, close, enable);
    connect(&m_bench, &Workbench::sessionClosed, close, enable);
    enable();
}

void MainWindow::buildViewMenu(QMenu* menu)
{
    QMenu* layouts = menu->addMenu(tr("&Layout"));
    layouts->addAction(tr("Layout: &Search"), QKeySequence(Qt::CTRL | Qt::Key_1), this,
                       [this] { applyLayout(Layout::Search); });
    layouts->addAction(tr("Layout: &Compare"), QKeySequence(Qt::CTRL | Qt::Key_2), this,
                       [this] { applyLayout(Layout::Compare); });
    layouts->addAction(tr("Layout: S&ource"), QKeySequence(Qt::CTRL | Qt::Key_3), this,
                       [this] { applyLayout(Layout::Source); });
    QMenu* panels = menu->addMenu(tr("&Panels"));
    for (QDockWidget* dock : docks()) {
        panels->addAction(dock->toggleViewAction());
    }
    buildThemeMenu(menu->addMenu(tr("&Theme")));
    menu->addSeparator();
    menu->addAction(tr("&Fit the tree"), m_tree->view(), &TreeView::fit);
    menu->addAction(tr("Tree at &100 %"), m_tree->view(), &TreeView::resetZoom);
}

void MainWindow::buildThemeMenu(QMenu* menu)
{
    auto* group = new QActionGroup(this);
    const auto add = [&](const QString& text, ThemeMode mode) {
        QAction* action = menu->addAction(text, this, [this, mode] {
            m_bench.themes().setMode(mode);
            m_settings.setValue(QStringLiteral("window/theme"), int(mode));
        });
        action->setCheckable(true);
        action->setActionGroup(group);
        action->setChecked(m_bench.themes().mode() == mode);
    };
    add(tr("Theme: as the &system"), ThemeMode::System);
    add(tr("Theme: &light"), ThemeMode::Light);
    add(tr("Theme: &dark"), ThemeMode::Dark);
}

QList<QAction*> MainWindow::allActions() const
{
    QList<QAction*> actions;
    QList<QMenu*> menus;
    for (const QAction* top : menuBar()->actions()) {
        menus += top->menu();
    }
    while (!menus.isEmpty()) {
        const QMenu* menu = menus.takeFirst();
        for (QAction* action : menu->actions()) {
            if (action->menu()) {
                if (action->menu()->title() != tr("Open &recent")) {
                    menus += action->menu();
                }
            } else if (!action->isSeparator() && !actions.contains(action)) {
                actions += action;
            }
        }
    }
    return actions;
}

} // namespace espalier
