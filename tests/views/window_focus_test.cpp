// SPDX-License-Identifier: GPL-3.0-only
// Where keys go and where panels stand: nothing is typed into what nobody sees, nothing lies on something else.
#include "tests/views/view_fixture.h"
#include "views/banner.h"
#include "views/code_view.h"
#include "views/command_palette.h"
#include "views/inspector.h"
#include "views/main_window.h"
#include "views/metric_panel.h"
#include "views/new_session_dialog.h"
#include "views/outline_panel.h"
#include "views/plan_panel.h"
#include "views/run_controls.h"
#include "views/steering.h"
#include "views/tree_panel.h"
#include "views/tree_view.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <QTreeWidget>
#include <set>

using namespace espalier;

namespace {

class WindowFocus : public ViewFixture
{
protected:
    void SetUp() override
    {
        window = std::make_unique<MainWindow>(bench, settings);
        window->resize(1280, 720);
        window->show();
        window->activateWindow();
        scriptSoftmax(*link, Provenance::Model);
        open();
    }
    QDockWidget* dock(const char* name) const { return window->findChild<QDockWidget*>(QString::fromLatin1(name)); }
    /// A panel behind another one is "visible" to Qt, far outside the window.
    bool onScreen(const QWidget* widget) const
    {
        return widget->isVisible() &&
               window->rect().intersects(QRect(widget->mapTo(window.get(), QPoint()), widget->size()));
    }
    QAction* act(const char* text) const
    {
        for (QAction* action : window->allActions()) {
            if (action->text().remove(QLatin1Char('&')) == QString::fromUtf8(text)) {
                return action;
            }
        }
        ADD_FAILURE() << "no act " << text;
        return nullptr;
    }

    std::unique_ptr<MainWindow> window;
};

} // namespace

TEST_F(WindowFocus, WhatIsTypedIntoIsSeen)
{
    auto* words = window->outline().findChild<QLineEdit*>();
    ASSERT_TRUE(words);
    ASSERT_FALSE(onScreen(words)) << "the outline is a tab behind the plan";
    act("Search nodes")->trigger();
    settle();
    EXPECT_TRUE(onScreen(words));
    EXPECT_TRUE(words->hasFocus());
    dock("metrics")->raise();
    settle();
    act("Find in source")->trigger();
    settle();
    EXPECT_TRUE(onScreen(&window->inspector())) << "a tab behind the metrics until now";
    dock("inspector")->close();
    settle();
    act("Find in source")->trigger();
    settle();
    EXPECT_TRUE(onScreen(&window->inspector()));
}

TEST_F(WindowFocus, TabStopsOnlyWhereSomethingIsSeen)
{
    for (const auto layout : {MainWindow::Layout::Search, MainWindow::Layout::Compare, MainWindow::Layout::Source}) {
        window->applyLayout(layout);
        settle();
        for (const Qt::Key key : {Qt::Key_Tab, Qt::Key_Backtab}) {
            window->tree().view()->setFocus();
            std::set<const QWidget*> stops;
            for (int press = 0; press < 60; ++press) {
                QTest::keyClick(QApplication::focusWidget(), key);
                settle();
                const QWidget* focus = QApplication::focusWidget();
                ASSERT_TRUE(focus);
                EXPECT_TRUE(onScreen(focus))
                    << focus->metaObject()->className() << " " << focus->accessibleName().toStdString();
                if (!stops.insert(focus).second) {
                    break; // once round
                }
            }
            EXPECT_GT(stops.size(), 8u);
            EXPECT_TRUE(stops.contains(window->tree().view())) << "and comes back";
        }
    }
}

TEST_F(WindowFocus, PanelsDoNotLieOnEachOtherHoweverSmallTheWindowIs)
{
    for (const QSize size : {QSize(1280, 720), QSize(1024, 600), QSize(800, 500)}) {
        for (const auto layout :
             {MainWindow::Layout::Search, MainWindow::Layout::Compare, MainWindow::Layout::Source}) {
            window->resize(size);
            settle();
            window->applyLayout(layout);
            settle();
            EXPECT_EQ(window->size(), size) << "what panels need does not make the window grow";
            QList<QPair<QString, QRect>> shown;
            for (const QDockWidget* one : window->findChildren<QDockWidget*>()) {
                if (onScreen(one)) {
                    shown += {one->windowTitle(), one->geometry()};
                }
            }
            shown += {QStringLiteral("centre"), window->centralWidget()->geometry()};
            for (int i = 0; i < shown.size(); ++i) {
                EXPECT_TRUE(window->rect().contains(shown[i].second))
                    << shown[i].first.toStdString() << " leaves a window of " << size.width();
                for (int k = 0; k < i; ++k) {
                    EXPECT_FALSE(shown[i].second.intersects(shown[k].second))
                        << shown[i].first.toStdString() << " on " << shown[k].first.toStdString() << " at "
                        << size.width() << ", layout " << int(layout);
                }
            }
        }
    }
}

TEST_F(WindowFocus, ACodeGrowsAndShrinksByTheSameKeys)
{
    auto* code = window->inspector().findChild<CodeView*>();
    ASSERT_TRUE(code);
    const auto zoom = [&] { return int(code->SendScintilla(QsciScintilla::SCI_GETZOOM)); };
    ASSERT_EQ(zoom(), 0);
    QTest::keyClick(code, Qt::Key_Equal, Qt::ControlModifier);
    QTest::keyClick(code, Qt::Key_Plus, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(zoom(), 2);
    QTest::keyClick(code, Qt::Key_Minus, Qt::ControlModifier);
    EXPECT_EQ(zoom(), 1);
    QTest::keyClick(code, Qt::Key_0, Qt::ControlModifier);
    EXPECT_EQ(zoom(), 0);
}

TEST_F(WindowFocus, ThePaletteDoesWhatCanBeDoneAndSaysWhyNot)
{
    bench.select(NodeId{1}); // the root: it is not pruned
    auto* palette = new CommandPalette(bench, window->allActions(), window.get());
    palette->show();
    auto* words = palette->findChild<QLineEdit*>();
    auto* list = palette->findChild<QTreeWidget*>();
    auto* why = palette->findChild<QLabel*>();
    ASSERT_TRUE(words && list && why);
    QTest::keyClicks(words, QStringLiteral("pr"));
    ASSERT_TRUE(list->currentItem());
    const QString marked = list->currentItem()->text(0);
    bool greyBefore = false;
    for (int row = 0; row < list->indexOfTopLevelItem(list->currentItem()); ++row) {
        greyBefore = greyBefore || list->topLevelItem(row)->text(0) == QStringLiteral("Prune branch");
    }
    EXPECT_TRUE(greyBefore) << "the better hit cannot be done";
    EXPECT_TRUE(act(marked.toUtf8().constData())->isEnabled()) << marked.toStdString();
    EXPECT_TRUE(why->isHidden());
    words->setText(QStringLiteral("prune branch"));
    list->setCurrentItem(list->topLevelItem(0));
    EXPECT_TRUE(why->text().contains(QStringLiteral("The root cannot be pruned"))) << why->text().toStdString();
    EXPECT_FALSE(why->isHidden());
    QTest::keyClick(words, Qt::Key_Return);
    settle();
    EXPECT_TRUE(palette->isVisible());
    words->setText(QStringLiteral("shuffles")); // a node's title
    QTest::keyClick(words, Qt::Key_Return);
    settle();
    EXPECT_TRUE(QString::fromStdString(bench.nodes().at(bench.selectedIndex()).title)
                    .contains(QStringLiteral("shuffles"), Qt::CaseInsensitive));
}

TEST_F(WindowFocus, TheEndOfARunIsToldWithWhatComesNext)
{
    RunSummary summary;
    summary.why = "the budget of 40 evaluations is used up";
    link->status.state = RunState::Finished;
    link->status.why = summary.why;
    link->sendStatus();
    link->send(event::Finished{summary});
    settle();
    const QString text = window->banner().text();
    EXPECT_TRUE(text.contains(QStringLiteral("the budget of 40 evaluations is used up"))) << text.toStdString();
    EXPECT_TRUE(text.contains(QStringLiteral("Best: "))) << text.toStdString();
    bench.select(NodeId{1});
    QPushButton* best = nullptr;
    for (QPushButton* button : window->banner().findChildren<QPushButton*>()) {
        best = button->text() == QStringLiteral("Go to best") ? button : best;
    }
    ASSERT_TRUE(best);
    best->click();
    settle();
    EXPECT_EQ(bench.selected(), link->status.best);
    EXPECT_TRUE(window->banner().text().isEmpty());
    window->controls().run()->trigger(); // into a budget that is used up: it ends as it begins
    link->send(event::Finished{summary});
    settle();
    EXPECT_TRUE(window->banner().text().contains(QStringLiteral("used up")));
}

TEST_F(WindowFocus, AnEmptyPlanAndAKernelThatWaitsSayWhy)
{
    const auto why = [&] {
        const auto labels = window->plan().findChildren<QLabel*>();
        return labels.isEmpty() || labels.front()->isHidden() ? std::string() : labels.front()->text().toStdString();
    };
    EXPECT_EQ(why(), "");
    link->status.state = RunState::Finished;
    link->status.why = "every idea is implemented";
    link->sendStatus();
    link->send(event::Plan{{}, "refine"});
    settle();
    EXPECT_NE(why().find("every idea is implemented"), std::string::npos) << why();

    NodeId waiting{0};
    for (const auto& [id, detail] : link->details) {
        waiting =
            detail.summary.kind == NodeKind::Candidate && detail.summary.state == NodeState::Queued ? id : waiting;
    }
    ASSERT_NE(waiting, NodeId{0});
    bench.select(waiting);
    const auto sentence = [&] { return window->inspector().sentence().toStdString(); };
    EXPECT_NE(sentence().find("The search does not run"), std::string::npos) << sentence();
    link->status.state = RunState::Running;
    link->sendStatus();
    link->send(event::Plan{{{PlannedStep::Queued, NodeId{2}, ""},
                            {PlannedStep::Queued, NodeId{3}, ""},
                            {PlannedStep::Queued, waiting, ""}},
                           "refine"});
    settle();
    EXPECT_EQ(sentence().find("The search does not run"), std::string::npos) << sentence();
    EXPECT_NE(sentence().find("2 others come before it"), std::string::npos) << sentence();
}

TEST_F(WindowFocus, EveryFieldOfANewSessionCanBeRead)
{
    NewSessionDialog dialog(folder.path());
    dialog.setStrategies(link->strategies());
    dialog.show();
    settle();
    for (const QComboBox* box : dialog.findChildren<QComboBox*>()) {
        EXPECT_GT(box->width(), 200) << box->currentText().toStdString();
    }
}
