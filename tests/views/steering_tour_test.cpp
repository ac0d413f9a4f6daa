// SPDX-License-Identifier: GPL-3.0-only
// A tour of the engineer's acts through the whole window: each by its key where a node has the focus and by its entry
// in the context menu, against what is sent to the engine and what becomes of the tree.
#include "tests/views/view_fixture.h"
#include "views/banner.h"
#include "views/branch_budget_dialog.h"
#include "views/code_view.h"
#include "views/cross_mode.h"
#include "views/idea_editor.h"
#include "views/inject_dialog.h"
#include "views/inspector.h"
#include "views/limits_dialog.h"
#include "views/main_window.h"
#include "views/plan_model.h"
#include "views/plan_panel.h"
#include "views/run_controls.h"
#include "views/standing_panel.h"
#include "views/steering.h"
#include "views/strategy_dialog.h"
#include "views/tree_panel.h"
#include "views/tree_view.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QListView>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <algorithm>

using namespace espalier;

namespace {

class SteeringTour : public ViewFixture
{
protected:
    void SetUp() override
    {
        window = std::make_unique<MainWindow>(bench, settings);
        window->resize(1500, 900);
        window->show();
        scriptSoftmax(*link, Provenance::Model);
        link->info.models = {"{}"};
        open();
        tree = window->tree().view();
        tree->setFocus();
    }

    NodeId titled(const std::string& title, NodeKind kind) const
    {
        for (const auto& [id, detail] : link->details) {
            if (detail.summary.title == title && detail.summary.kind == kind) {
                return id;
            }
        }
        ADD_FAILURE() << title;
        return NodeId{1};
    }
    const NodeSummary& summary(NodeId node) const { return link->details.at(node).summary; }

    void select(NodeId node)
    {
        bench.select(node);
        window->activateWindow(); // there is no window manager to do it when a dialog or a menu has closed
        settle();
        tree->setFocus();
    }
    void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::keyClick(tree, Qt::Key(key), modifiers);
        settle();
    }
    /// By its words, in the menu that a right click on the node opens.
    void choose(NodeId node, const QString& words)
    {
        select(node);
        tree->ensureVisible(bench.selectedIndex());
        const QPoint place = tree->deviceRectOf(bench.selectedIndex()).center().toPoint();
        QContextMenuEvent click(QContextMenuEvent::Mouse, place, tree->viewport()->mapToGlobal(place));
        QCoreApplication::sendEvent(tree->viewport(), &click);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        ASSERT_TRUE(menu);
        const QList<QAction*> actions = menu->actions();
        const auto found = std::find_if(actions.begin(), actions.end(),
                                        [&](const QAction* action) { return action->text() == words; });
        ASSERT_NE(found, actions.end()) << words.toStdString();
        EXPECT_TRUE((*found)->isEnabled()) << words.toStdString() << ": " << (*found)->toolTip().toStdString();
        QAction* action = *found;
        menu->close();
        action->trigger();
        settle();
    }
    template <typename Dialog>
    Dialog* dialog() const
    {
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            if (auto* found = qobject_cast<Dialog*>(widget); found && found->isVisible()) {
                return found;
            }
        }
        return nullptr;
    }
    void click(NodeId node)
    {
        tree->ensureVisible(bench.nodes().indexOf(node));
        const QPoint place = tree->deviceRectOf(bench.nodes().indexOf(node)).center().toPoint();
        QTest::mouseClick(tree->viewport(), Qt::LeftButton, Qt::NoModifier, place);
        settle();
    }
    void undo()
    {
        bench.undoStack().undo();
        settle();
    }

    std::unique_ptr<MainWindow> window;
    TreeView* tree = nullptr;
};

} // namespace

TEST_F(SteeringTour, PinPruneAndBoost)
{
    const NodeId node = titled("Vectorise the loads", NodeKind::Candidate);
    select(node);
    press(Qt::Key_X);
    EXPECT_TRUE(summary(node).pruned);
    press(Qt::Key_P);
    EXPECT_TRUE(summary(node).pinned);
    press(Qt::Key_Plus);
    press(Qt::Key_Plus);
    EXPECT_EQ(summary(node).boost, 4);
    press(Qt::Key_Minus);
    EXPECT_EQ(summary(node).boost, 2);
    const double zoom = tree->zoom();
    press(Qt::Key_Minus, Qt::ControlModifier);
    EXPECT_LT(tree->zoom(), zoom);
    EXPECT_EQ(summary(node).boost, 2);
    for (int i = 0; i < 5; ++i) {
        undo();
    }
    EXPECT_FALSE(summary(node).pruned || summary(node).pinned);
    EXPECT_EQ(summary(node).boost, 1);

    choose(node, QStringLiteral("Prune branch"));
    choose(node, QStringLiteral("Pin"));
    choose(node, QStringLiteral("Boost"));
    EXPECT_TRUE(summary(node).pinned && summary(node).pruned);
    EXPECT_EQ(summary(node).boost, 2);
    choose(node, QStringLiteral("Restore branch"));
    press(Qt::Key_X); // it is pinned, and so protected
    EXPECT_FALSE(summary(node).pruned);
    choose(node, QStringLiteral("Boost less"));
    choose(node, QStringLiteral("Unpin"));
    EXPECT_FALSE(summary(node).pinned || summary(node).pruned);
    EXPECT_EQ(link->sent<command::SetBoost>().size(), 8u);
}

TEST_F(SteeringTour, IdeasAreWrittenAndEditedBesideTheTree)
{
    const NodeId best = *link->status.best;
    select(best);
    window->findChild<QDockWidget*>(QStringLiteral("outline"))->raise();
    press(Qt::Key_I);
    IdeaEditor* editor = window->plan().editor();
    ASSERT_TRUE(editor);
    EXPECT_TRUE(window->plan().isVisible());
    QTest::keyClicks(editor->findChild<QLineEdit*>(), QStringLiteral("Skip x"));
    QTest::keyClick(editor->findChild<QLineEdit*>(), Qt::Key_Return);
    settle();
    const auto added = link->sent<command::AddIdea>();
    ASSERT_EQ(added.size(), 1u);
    EXPECT_EQ(added[0].parent, best);
    EXPECT_EQ(added[0].title, "Skip x");
    EXPECT_FALSE(summary(best).pruned); // the letter x was a letter
    const NodeId idea = titled("Skip x", NodeKind::Idea);
    EXPECT_EQ(bench.selected(), idea);

    tree->setFocus();
    press(Qt::Key_F2);
    editor = window->plan().editor();
    ASSERT_TRUE(editor);
    editor->findChild<QLineEdit*>()->setText(QStringLiteral("Skip the tail"));
    QTest::keyClick(editor->findChild<QLineEdit*>(), Qt::Key_Return);
    settle();
    EXPECT_EQ(summary(idea).title, "Skip the tail");
    undo();
    EXPECT_EQ(summary(idea).title, "Skip x");
    undo();
    EXPECT_TRUE(summary(idea).pruned);

    const NodeId draft = titled("Refill while writing", NodeKind::Idea);
    choose(draft, QStringLiteral("Edit idea"));
    ASSERT_TRUE(window->plan().editor());
    QTest::keyClick(window->plan().editor()->findChild<QLineEdit*>(), Qt::Key_Escape);
    settle();
    // At an idea a new one goes beside it, under the same kernel.
    choose(draft, QStringLiteral("New idea here"));
    editor = window->plan().editor();
    ASSERT_TRUE(editor);
    QTest::keyClicks(editor->findChild<QLineEdit*>(), QStringLiteral("Beside it"));
    QTest::keyClick(editor->findChild<QLineEdit*>(), Qt::Key_Return);
    settle();
    EXPECT_EQ(summary(titled("Beside it", NodeKind::Idea)).parents.front().parent, best);
    // Delete in the list prunes.
    window->plan().view()->setCurrentIndex(window->plan().model()->indexOf(draft));
    window->activateWindow();
    settle();
    window->plan().view()->setFocus();
    QTest::keyClick(window->plan().view(), Qt::Key_Delete);
    settle();
    EXPECT_TRUE(summary(draft).pruned);
    QTest::keyClick(window->plan().view(), Qt::Key_Up, Qt::ControlModifier);
    settle();
    EXPECT_EQ(link->sent<command::SetBoost>().size(), 1u);
}

TEST_F(SteeringTour, OwnKernelsAreInjectedHereAndAsARoot)
{
    const NodeId parent = titled("Reduce by shuffles", NodeKind::Candidate);
    select(parent);
    press(Qt::Key_I, Qt::ControlModifier);
    auto* own = dialog<InjectDialog>();
    ASSERT_TRUE(own);
    QPushButton* accept = nullptr;
    for (auto* button : own->findChildren<QPushButton*>()) {
        accept = button->text() == QStringLiteral("Judge it") ? button : accept;
    }
    ASSERT_TRUE(accept);
    const QString parents = QString::fromStdString(link->details.at(parent).source);
    EXPECT_EQ(own->source(), parents) << "one begins with what one wants to change";
    EXPECT_FALSE(accept->isEnabled()) << "nothing was changed";
    own->readFile(QStringLiteral("/no/such.cu"));
    EXPECT_EQ(own->source(), parents);
    own->readFile(QStringLiteral(ESPALIER_SOURCE_DIR "/tasks/softmax_f32/root.cu"));
    EXPECT_EQ(own->title().toStdString(), "root");
    EXPECT_TRUE(accept->isEnabled());
    accept->click();
    settle();
    const auto injected = link->sent<command::Inject>();
    ASSERT_EQ(injected.size(), 1u);
    EXPECT_EQ(injected[0].parent, parent);
    EXPECT_NE(injected[0].source.find("softmax_f32"), std::string::npos);
    EXPECT_EQ(bench.selected(), titled("root", NodeKind::Candidate));
    undo();
    EXPECT_TRUE(summary(titled("root", NodeKind::Candidate)).pruned);

    QApplication::clipboard()->setText(QStringLiteral("// from the clipboard\n"));
    select(parent);
    press(Qt::Key_I, Qt::ControlModifier | Qt::ShiftModifier);
    own = dialog<InjectDialog>();
    ASSERT_TRUE(own);
    for (auto* button : own->findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("&Paste")) {
            button->click();
        }
    }
    own->accept();
    settle();
    ASSERT_EQ(link->sent<command::Inject>().size(), 2u);
    EXPECT_FALSE(link->sent<command::Inject>()[1].parent);
    EXPECT_EQ(link->sent<command::Inject>()[1].source, "// from the clipboard\n");
    const NodeId root = titled("Own kernel", NodeKind::Root);
    EXPECT_EQ(bench.selected(), root);
    EXPECT_EQ(bench.nodes().roots().size(), 2u);
    select(root);
    EXPECT_TRUE(window->steering().prune()->isEnabled()); // only the first root is what everything is compared with
    choose(parent, QStringLiteral("Own kernel here…"));
    ASSERT_TRUE(dialog<InjectDialog>());
    dialog<InjectDialog>()->reject();
}

TEST_F(SteeringTour, TwoKernelsAreCrossedByAClickOnTheSecond)
{
    const NodeId first = titled("Reduce by shuffles", NodeKind::Candidate), second = *link->status.best;
    select(first);
    press(Qt::Key_C);
    ASSERT_TRUE(window->crossing().isOn());
    EXPECT_TRUE(window->banner().text().contains(QStringLiteral("click the second kernel")));
    press(Qt::Key_Escape);
    EXPECT_FALSE(window->crossing().isOn());
    EXPECT_TRUE(window->banner().text().isEmpty());

    select(first);
    press(Qt::Key_C);
    press(Qt::Key_Left); // walking chooses nothing
    EXPECT_TRUE(window->crossing().isOn());
    click(titled("Reduce by shuffles", NodeKind::Idea));
    EXPECT_TRUE(window->banner().text().contains(QStringLiteral("cannot be crossed")));
    click(second);
    EXPECT_FALSE(window->crossing().isOn());
    const auto sent = link->sent<command::CrossOver>();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].first, first);
    EXPECT_EQ(sent[0].second, second);
    const NodeId made = titled("What is good in both", NodeKind::Idea);
    EXPECT_EQ(bench.selected(), made);
    undo();
    EXPECT_TRUE(summary(made).pruned);

    choose(second, QStringLiteral("Cross with…"));
    select(first);
    press(Qt::Key_Return);
    ASSERT_EQ(link->sent<command::CrossOver>().size(), 2u);
    EXPECT_EQ(link->sent<command::CrossOver>()[1].first, second);
    EXPECT_TRUE(window->findChild<QDockWidget*>(QStringLiteral("plan"))->isVisible()); // and no other layout
}

TEST_F(SteeringTour, WhatRunsIsKilledAndWhatIsDoneIsJudgedAgain)
{
    const NodeId running = titled("BLOCK = 512, UNROLL = 4", NodeKind::Candidate), best = *link->status.best;
    select(running);
    EXPECT_FALSE(window->steering().action(Act::TimeAgain)->isEnabled());
    press(Qt::Key_K, Qt::ControlModifier);
    ASSERT_EQ(link->sent<command::Kill>().size(), 1u);
    EXPECT_EQ(link->sent<command::Kill>()[0].node, running);
    EXPECT_EQ(summary(running).state, NodeState::Done);
    EXPECT_EQ(bench.selected(), running); // although it has left the plan
    EXPECT_FALSE(window->steering().action(Act::Kill)->isEnabled());
    EXPECT_TRUE(window->steering().action(Act::Kill)->toolTip().contains(QStringLiteral("has ended")))
        << window->steering().action(Act::Kill)->toolTip().toStdString();
    choose(titled("BLOCK = 1024, UNROLL = 4", NodeKind::Candidate), QStringLiteral("Kill"));
    EXPECT_EQ(link->sent<command::Kill>().size(), 2u);

    select(best);
    press(Qt::Key_V, Qt::ControlModifier | Qt::ShiftModifier);
    press(Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
    choose(best, QStringLiteral("Profile now"));
    const auto again = link->sent<command::JudgeAgain>();
    ASSERT_EQ(again.size(), 3u);
    EXPECT_EQ(again[0].what, Again::Verify);
    EXPECT_EQ(again[1].what, Again::Time);
    EXPECT_EQ(again[2].what, Again::Profile);
    EXPECT_EQ(again[2].node, best);
    select(titled("Reduce by shuffles, no barrier", NodeKind::Candidate)); // incorrect
    EXPECT_TRUE(window->steering().action(Act::VerifyAgain)->isEnabled());
    EXPECT_FALSE(window->steering().action(Act::ProfileNow)->isEnabled());
    select(titled("exp2 with folded scale", NodeKind::Candidate)); // did not build
    EXPECT_TRUE(window->steering().action(Act::VerifyAgain)->toolTip().contains(QStringLiteral("not built")));
}

TEST_F(SteeringTour, ModelsAreAskedAgain)
{
    const NodeId best = *link->status.best;
    select(best);
    press(Qt::Key_R, Qt::ControlModifier);
    press(Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
    const auto asked = link->sent<command::Ask>();
    ASSERT_EQ(asked.size(), 2u);
    EXPECT_FALSE(asked[0].ideas);
    EXPECT_TRUE(asked[1].ideas);
    select(NodeId{1});
    EXPECT_FALSE(window->steering().action(Act::AskAgain)->isEnabled());
    choose(NodeId{1}, QStringLiteral("Ask for ideas here"));
    EXPECT_EQ(link->sent<command::Ask>()[2].node, NodeId{1});
    link->info.models.clear();
    open();
    select(best);
    EXPECT_FALSE(window->steering().action(Act::AskIdeas)->isEnabled());
    EXPECT_TRUE(window->steering().action(Act::AskIdeas)->toolTip().contains(QStringLiteral("No model")));
}

TEST_F(SteeringTour, ABranchGetsABudget)
{
    const NodeId node = titled("Vectorise the loads", NodeKind::Idea);
    select(node);
    press(Qt::Key_L, Qt::ControlModifier);
    auto* budget = dialog<BranchBudgetDialog>();
    ASSERT_TRUE(budget);
    const auto boxes = budget->findChildren<QSpinBox*>();
    ASSERT_EQ(boxes.size(), 3);
    boxes[0]->setValue(12); // evaluations
    boxes[1]->setValue(50); // thousand tokens
    boxes[2]->setValue(90); // seconds
    budget->findChild<QDoubleSpinBox*>()->setValue(1.5);
    budget->accept();
    settle();
    const BranchBudget set = summary(node).budget;
    EXPECT_EQ(set, (BranchBudget{12, 50000, 1.5, 90}));
    link->change(node, [](NodeSummary& one) { one.branchSpent = {3, 12000, 0.25, 41}; });
    choose(node, QStringLiteral("Budget of this branch…"));
    budget = dialog<BranchBudgetDialog>();
    ASSERT_TRUE(budget);
    EXPECT_EQ(budget->budget(), set);
    EXPECT_TRUE(budget->findChild<QLabel*>(QStringLiteral("spent"))
                    ->text()
                    .contains(QStringLiteral("3 evaluations, 12,000 tokens, USD 0.25")));
    budget->accept(); // unchanged
    settle();
    EXPECT_EQ(link->sent<command::SetBranchBudget>().size(), 1u);
    undo();
    EXPECT_TRUE(summary(node).budget.none());
}

TEST_F(SteeringTour, LimitsAndStrategyAreChangedWhileItRuns)
{
    window->controls().limits()->trigger();
    auto* limits = dialog<LimitsDialog>();
    ASSERT_TRUE(limits);
    limits->findChildren<QSpinBox*>()[0]->setValue(99);
    limits->findChildren<QSpinBox*>()[3]->setValue(12);
    limits->findChildren<QDoubleSpinBox*>()[1]->setValue(2.5);
    limits->findChildren<QDoubleSpinBox*>()[2]->setValue(10);
    limits->accept();
    settle();
    EXPECT_EQ(link->status.budget.evaluations, 99);
    EXPECT_EQ(link->status.budget.target, 2.5);
    EXPECT_EQ(link->status.budget.roofPercent, 10);
    EXPECT_EQ(link->status.budget.plateau, 12);
    EXPECT_TRUE(link->sent<command::Run>().empty());
    undo();
    EXPECT_EQ(link->status.budget.evaluations, 40);
    window->controls().limits()->trigger();
    limits = dialog<LimitsDialog>();
    for (auto* button : limits->findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("Set and &run")) {
            button->click();
        }
    }
    settle();
    EXPECT_EQ(link->sent<command::Run>().size(), 1u);

    window->controls().strategy()->trigger();
    auto* strategy = dialog<StrategyDialog>();
    ASSERT_TRUE(strategy);
    auto* choice = strategy->findChild<QComboBox*>();
    EXPECT_EQ(choice->currentText().toStdString(), "refine");
    choice->setCurrentText(QStringLiteral("beam"));
    for (auto* box : strategy->findChildren<QDoubleSpinBox*>()) {
        if (box->accessibleName() == QStringLiteral("width")) {
            box->setValue(2);
        }
    }
    EXPECT_EQ(strategy->words().toStdString(), "beam:width=2");
    strategy->accept();
    settle();
    ASSERT_EQ(link->sent<command::SetStrategy>().size(), 1u);
    EXPECT_EQ(bench.strategy(), "beam:width=2");
    window->controls().strategy()->trigger();
    strategy = dialog<StrategyDialog>();
    EXPECT_EQ(strategy->words().toStdString(), "beam:width=2");
    strategy->reject();
    settle();
    undo();
    EXPECT_EQ(bench.strategy(), "refine");
}

TEST_F(SteeringTour, HintsAndBansStandInAPanelAndAreUndone)
{
    StandingPanel& panel = window->standing();
    const auto field = [&](const char* name) {
        for (auto* edit : panel.findChildren<QLineEdit*>()) {
            if (edit->accessibleName() == QLatin1String(name)) {
                return edit;
            }
        }
        return static_cast<QLineEdit*>(nullptr);
    };
    QTest::keyClick(tree, Qt::Key_H, Qt::ControlModifier);
    settle();
    EXPECT_TRUE(panel.isVisible());
    EXPECT_TRUE(field("New hint")->hasFocus());
    for (const char* hint : {"Rows are short.", "No inline assembly."}) {
        QTest::keyClicks(field("New hint"), QLatin1String(hint));
        QTest::keyClick(field("New hint"), Qt::Key_Return);
    }
    settle();
    EXPECT_EQ(panel.hints()->count(), 2);
    QTest::keyClicks(field("New ban"), QStringLiteral("no fp16"));
    QTest::keyClicks(field("Limit of the new ban"), QStringLiteral("fp16_instructions == 0"));
    QTest::keyClick(field("Limit of the new ban"), Qt::Key_Return);
    settle();
    ASSERT_EQ(link->sent<command::Ban>().size(), 1u);
    EXPECT_EQ(link->sent<command::Ban>()[0].predicate, "fp16_instructions == 0");
    ASSERT_EQ(panel.bans()->count(), 1);
    EXPECT_TRUE(panel.bans()->item(0)->text().contains(QStringLiteral("fp16_instructions == 0")));

    panel.hints()->setCurrentRow(0);
    panel.hints()->setFocus();
    QTest::keyClick(panel.hints(), Qt::Key_Delete);
    settle();
    ASSERT_EQ(link->standing.hints.size(), 1u);
    EXPECT_EQ(link->standing.hints[0], "No inline assembly.");
    undo();
    EXPECT_EQ(panel.hints()->count(), 2);
    undo(); // the ban
    EXPECT_TRUE(link->standing.bans.empty());
    bench.undoStack().redo();
    settle();
    ASSERT_EQ(panel.bans()->count(), 1);
    panel.bans()->setCurrentRow(0);
    panel.bans()->setFocus();
    QTest::keyClick(panel.bans(), Qt::Key_Delete);
    settle();
    EXPECT_EQ(link->sent<command::LiftBan>().size(), 2u);
    EXPECT_EQ(panel.bans()->count(), 0);
}

TEST_F(SteeringTour, AnExpansionSaysWhyItWasChosen)
{
    select(*link->status.best);
    EXPECT_EQ(window->inspector().why().toStdString(),
              "Why it was chosen: the new idea under the fastest parent (2.21x).");
    select(NodeId{1});
    EXPECT_TRUE(window->inspector().why().isEmpty());
    select(titled("Refill while writing", NodeKind::Idea));
    EXPECT_EQ(window->inspector().why().toStdString(), "Added by the engineer.");
}

TEST_F(SteeringTour, EveryActHasAKeyOfItsOwnAndIsInThePalette)
{
    QMap<QString, QString> keys;
    const QList<QAction*> all = window->allActions();
    for (int i = 0; i < int(Act::Count); ++i) {
        QAction* action = window->steering().action(Act(i));
        ASSERT_TRUE(action);
        EXPECT_FALSE(action->shortcut().isEmpty()) << action->text().toStdString();
        EXPECT_TRUE(all.contains(action)) << action->text().toStdString();
        EXPECT_FALSE(action->toolTip().isEmpty());
    }
    for (const QAction* action : all) {
        for (const QKeySequence& key : action->shortcuts()) {
            const QString text = key.toString();
            EXPECT_FALSE(keys.contains(text)) << text.toStdString() << ": " << keys.value(text).toStdString() << " and "
                                              << action->text().toStdString();
            keys.insert(text, action->text());
        }
    }
    // Without a selection or a session nothing can be done, and each act says why.
    bench.bridge().close();
    settle();
    for (int i = 0; i < int(Act::Count); ++i) {
        EXPECT_FALSE(window->steering().action(Act(i))->isEnabled());
        EXPECT_FALSE(window->steering().action(Act(i))->toolTip().isEmpty());
    }
}
