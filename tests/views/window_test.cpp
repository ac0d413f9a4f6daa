// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/view_fixture.h"
#include "views/banner.h"
#include "views/command_palette.h"
#include "views/inspector.h"
#include "views/main_window.h"
#include "views/new_session_dialog.h"
#include "views/run_controls.h"
#include "views/session_actions.h"
#include "views/steering.h"
#include "views/tree_panel.h"
#include "views/tree_view.h"
#include "views/welcome_panel.h"

#include <QAction>
#include <QClipboard>
#include <QDockWidget>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>

using namespace espalier;

namespace {

class WindowTest : public ViewFixture
{
protected:
    void SetUp() override
    {
        window = std::make_unique<MainWindow>(bench, settings);
        window->resize(1400, 850);
        window->show();
        settle();
    }
    void openStory()
    {
        scriptSoftmax(*link, Provenance::Model);
        open();
    }
    NodeId find(Outcome outcome) const
    {
        for (const auto& [id, detail] : link->details) {
            if (detail.summary.kind == NodeKind::Candidate && detail.summary.state == NodeState::Done &&
                detail.summary.outcome == outcome) {
                return id;
            }
        }
        ADD_FAILURE() << "the story has no such node";
        return NodeId{1};
    }
    std::unique_ptr<MainWindow> window;
};

} // namespace

TEST_F(WindowTest, StartsWithThreeButtonsAndNothingToRun)
{
    auto* welcome = window->findChild<WelcomePanel*>();
    ASSERT_TRUE(welcome && welcome->isVisible());
    EXPECT_EQ(welcome->findChildren<QPushButton*>().size(), 3);
    for (QAction* action :
         {window->controls().run(), window->controls().pause(), window->controls().step(), window->controls().stop()}) {
        EXPECT_FALSE(action->isEnabled());
        EXPECT_TRUE(action->toolTip().contains(QStringLiteral("No session is open")))
            << action->toolTip().toStdString();
    }
}

TEST_F(WindowTest, ShowsASessionAndItsSelection)
{
    openStory();
    EXPECT_TRUE(window->tree().isVisible());
    EXPECT_EQ(bench.selected(), link->status.best);
    EXPECT_TRUE(window->inspector().sentence().startsWith(QStringLiteral("1.47× faster than its parent")));
    bench.select(find(Outcome::Incorrect));
    EXPECT_EQ(window->inspector().sentence().toStdString(),
              "Rejected by ada although the judge said passed: our launcher cannot start blocks of 128.");
    bench.select(NodeId{10});
    EXPECT_TRUE(window->inspector().sentence().startsWith(QStringLiteral("Rejected: row 17 of call 3")));
    bench.select(find(Outcome::BuildFailed));
    EXPECT_TRUE(window->inspector().sentence().startsWith(QStringLiteral("Did not build: line")));
    bench.bridge().close();
    EXPECT_FALSE(window->tree().isVisible());
}

TEST_F(WindowTest, RunVerbsFollowTheState)
{
    openStory();
    RunControls& controls = window->controls();
    EXPECT_FALSE(controls.run()->isEnabled());
    EXPECT_FALSE(controls.step()->isEnabled());
    controls.pause()->trigger();
    settle();
    EXPECT_EQ(link->sent<command::Pause>().size(), 1u);
    EXPECT_TRUE(controls.run()->isEnabled());
    EXPECT_TRUE(controls.step()->isEnabled());
    EXPECT_FALSE(controls.pause()->isEnabled());
    controls.step()->trigger();
    controls.run()->trigger();
    settle();
    EXPECT_EQ(link->sent<command::Step>().size(), 1u);
    EXPECT_EQ(link->sent<command::Run>().size(), 1u);
    EXPECT_TRUE(controls.stop()->isEnabled());
}

TEST_F(WindowTest, PinAndPruneAreUndone)
{
    openStory();
    const NodeId node = *bench.selected();
    window->tree().view()->setFocus();
    QTest::keyClick(window->tree().view(), Qt::Key_X);
    settle();
    EXPECT_TRUE(bench.nodes().at(bench.selectedIndex()).pruned);
    window->steering().pin()->trigger();
    settle();
    EXPECT_TRUE(bench.nodes().at(bench.selectedIndex()).pinned);
    EXPECT_EQ(window->steering().pin()->text().toStdString(), "Unpin");
    bench.undoStack().undo();
    bench.undoStack().undo();
    settle();
    EXPECT_FALSE(bench.nodes().at(bench.selectedIndex()).pruned);
    EXPECT_FALSE(bench.nodes().at(bench.selectedIndex()).pinned);
    const auto pins = link->sent<command::SetPinned>();
    ASSERT_EQ(pins.size(), 2u);
    EXPECT_EQ(pins[1].node, node);
    EXPECT_FALSE(pins[1].pinned);
}

TEST_F(WindowTest, WhatIsPinnedIsNotPrunedAndSaysWhy)
{
    openStory();
    window->steering().pin()->trigger();
    settle();
    EXPECT_FALSE(window->steering().prune()->isEnabled());
    EXPECT_TRUE(window->steering().prune()->toolTip().contains(QStringLiteral("unpin")))
        << window->steering().prune()->toolTip().toStdString();
    QTest::keyClick(window->tree().view(), Qt::Key_X);
    settle();
    EXPECT_FALSE(bench.nodes().at(bench.selectedIndex()).pruned);
}

TEST_F(WindowTest, TheRootIsNotPrunedAndSaysWhy)
{
    openStory();
    bench.select(NodeId{1});
    EXPECT_FALSE(window->steering().prune()->isEnabled());
    EXPECT_TRUE(window->steering().prune()->toolTip().contains(QStringLiteral("root")));
    bench.select(find(Outcome::Incorrect));
    EXPECT_FALSE(window->steering().exportKernel()->isEnabled());
    EXPECT_TRUE(window->steering().prune()->isEnabled());
}

TEST_F(WindowTest, CopySourceWaitsForTheDetail)
{
    openStory();
    const NodeId node = find(Outcome::Incorrect);
    bench.select(node);
    window->steering().copy()->trigger();
    settle();
    EXPECT_EQ(QApplication::clipboard()->text().toStdString(), link->details.at(node).source);
}

TEST_F(WindowTest, ErrorsAreSentencesNotDialogs)
{
    link->refusal =
        Error{ErrorCode::Busy, "s.espalier is open in another Espalier (process 4711): close it there first."};
    window->sessions().openFile(QStringLiteral("/tmp/s.espalier"));
    settle();
    EXPECT_EQ(window->banner().text().toStdString(), link->refusal->message);
    EXPECT_TRUE(QApplication::topLevelWidgets().contains(window.get()));
    EXPECT_EQ(QApplication::activeModalWidget(), nullptr);
    link->refusal.reset();
    openStory();
    EXPECT_TRUE(window->banner().text().isEmpty()); // a good opening takes the old message away
    link->send(event::CommandFailed{"export", {ErrorCode::Io, "/x is read-only: choose another folder."}});
    settle();
    EXPECT_EQ(window->banner().text().toStdString(), "/x is read-only: choose another folder.");
    link->send(event::Closed{Error{ErrorCode::Io, "the disk is full"}});
    settle();
    EXPECT_FALSE(bench.session());
    EXPECT_EQ(window->banner().text().toStdString(), "the disk is full");
}

TEST_F(WindowTest, LayoutAndRecentFilesAreKept)
{
    openStory();
    EXPECT_EQ(window->sessions().recent().front().toStdString(), link->info.file);
    window->applyLayout(MainWindow::Layout::Compare);
    const auto shown = [](MainWindow& main) {
        const auto* dock = main.findChild<QDockWidget*>(QStringLiteral("outline"));
        return dock && !dock->isHidden();
    };
    EXPECT_FALSE(shown(*window));
    window->close();
    window.reset();
    bench.bridge().close();
    MainWindow again(bench, settings);
    again.show();
    open();
    EXPECT_FALSE(shown(again));
    again.applyLayout(MainWindow::Layout::Search);
    EXPECT_TRUE(shown(again));
}

TEST_F(WindowTest, PaletteFindsActsAndNodes)
{
    openStory();
    EXPECT_GT(fuzzyScore(QStringLiteral("Theme: dark"), QStringLiteral("thda")), 0);
    EXPECT_EQ(fuzzyScore(QStringLiteral("Pause"), QStringLiteral("run")), 0);
    EXPECT_GT(fuzzyScore(QStringLiteral("Go to best"), QStringLiteral("best")),
              fuzzyScore(QStringLiteral("B e s t e"), QStringLiteral("gt")));
    auto* palette = new CommandPalette(bench, window->allActions(), window.get());
    palette->show();
    QTest::keyClicks(palette->findChild<QLineEdit*>(), QStringLiteral("5"));
    QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Return);
    settle();
    EXPECT_EQ(bench.selected(), NodeId{5});
}

TEST_F(WindowTest, NewSessionDialogRefusesWhatCannotWork)
{
    NewSessionDialog dialog(folder.path());
    auto* create = dialog.findChildren<QPushButton*>().back();
    for (QPushButton* button : dialog.findChildren<QPushButton*>()) {
        create = button->text().startsWith(QStringLiteral("Create")) ? button : create;
    }
    EXPECT_TRUE(create->isEnabled());
    const EngineOptions options = dialog.options();
    ASSERT_TRUE(options.task);
    EXPECT_EQ(options.budget->evaluations, 40);
    EXPECT_EQ(*options.device, "auto");
    EXPECT_FALSE(options.strategy); // the engine's own
    dialog.setStrategies(link->strategies());
    EXPECT_EQ(dialog.options().strategy, "refine");
    dialog.setFile(QStringLiteral("/no/such/folder/x.espalier"));
    EXPECT_FALSE(create->isEnabled());
}
