// SPDX-License-Identifier: GPL-3.0-only
#include "tests/views/view_fixture.h"
#include "views/idea_editor.h"
#include "views/plan_model.h"
#include "views/plan_panel.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QListView>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QTest>

using namespace espalier;

namespace {

class PlanTest : public ViewFixture
{
protected:
    void SetUp() override
    {
        scriptSoftmax(*link, Provenance::Model);
        panel = std::make_unique<PlanPanel>(bench);
        tester = std::make_unique<QAbstractItemModelTester>(panel->model(),
                                                            QAbstractItemModelTester::FailureReportingMode::Fatal);
        panel->resize(340, 600);
        panel->show();
        open();
        for (const char* title : {"Two rows a block", "Prefetch the next row", "Half the barriers"}) {
            link->post(
                command::AddIdea{NodeId{1}, title, std::string(title) + ", because it keeps more bytes in flight."});
        }
        settle();
    }

    QStringList rows(int role = Qt::DisplayRole) const
    {
        QStringList texts;
        for (int i = 0; i < panel->model()->rowCount(); ++i) {
            texts += panel->model()->index(i).data(role).toString();
        }
        return texts;
    }
    NodeId idea(const char* title) const
    {
        for (const auto& [id, detail] : link->details) {
            if (detail.summary.title == title && detail.summary.kind == NodeKind::Idea) {
                return id;
            }
        }
        ADD_FAILURE() << title;
        return NodeId{1};
    }
    QLineEdit* title() const { return panel->editor()->findChild<QLineEdit*>(); }
    QPlainTextEdit* text() const { return panel->editor()->findChild<QPlainTextEdit*>(); }

    std::unique_ptr<PlanPanel> panel;
    std::unique_ptr<QAbstractItemModelTester> tester;
};

} // namespace

TEST_F(PlanTest, ShowsWhatRunsWaitsComesNextAndStandsOpen)
{
    const QStringList tags = rows(PlanModel::TagRole);
    EXPECT_EQ(tags.join(QLatin1Char('|')).toStdString(), "|timing|building|queued|next|open|open|open");
    EXPECT_TRUE(rows()[4].contains(QStringLiteral("Refill while writing")));
    EXPECT_TRUE(rows(PlanModel::WhyRole)[4].contains(QStringLiteral("fastest parent")));
    EXPECT_EQ(rows(PlanModel::WhyRole)[5].toStdString(), "under 1  root.cu");
    EXPECT_EQ(rows().front().toStdString(), "New idea");
    for (int i = 0; i < panel->model()->rowCount(); ++i) {
        EXPECT_FALSE(panel->model()->index(i).data(Qt::ToolTipRole).toString().isEmpty()) << i;
    }
    bench.bridge().close();
    EXPECT_EQ(rows().size(), 1);
    EXPECT_TRUE(rows(PlanModel::WhyRole)[0].contains(QStringLiteral("once there is a kernel")));
}

TEST_F(PlanTest, AnIdeaIsEditedInItsRowAndTheEditIsUndone)
{
    const NodeId half = idea("Half the barriers");
    panel->view()->setCurrentIndex(panel->model()->indexOf(half));
    EXPECT_EQ(bench.selected(), half);
    const int before = panel->view()->visualRect(panel->model()->indexOf(half)).height();
    panel->editIdea(half); // its words are fetched first
    settle();
    ASSERT_TRUE(panel->editor());
    EXPECT_EQ(title()->text().toStdString(), "Half the barriers");
    EXPECT_TRUE(text()->toPlainText().startsWith(QStringLiteral("Half the barriers, because")));
    EXPECT_GT(panel->view()->visualRect(panel->model()->indexOf(half)).height(), 2 * before);
    EXPECT_TRUE(panel->view()->viewport()->rect().contains(panel->editor()->geometry()));

    title()->setText(QStringLiteral("A third of the barriers"));
    QTest::keyClick(text(), Qt::Key_End, Qt::ControlModifier);
    QTest::keyClick(text(), Qt::Key_Return, Qt::ShiftModifier);
    QTest::keyClicks(text(), QStringLiteral("px"));                  // letters are letters here
    link->change(half, [](NodeSummary& node) { node.boost = 1.5; }); // news meanwhile
    settle();
    ASSERT_TRUE(panel->editor());
    EXPECT_EQ(title()->text().toStdString(), "A third of the barriers");
    QTest::keyClick(text(), Qt::Key_Return);
    settle();
    EXPECT_FALSE(panel->editor());
    const auto edits = link->sent<command::EditIdea>();
    ASSERT_EQ(edits.size(), 1u);
    EXPECT_EQ(edits[0].node, half);
    EXPECT_EQ(edits[0].title, "A third of the barriers");
    EXPECT_TRUE(edits[0].text.ends_with("in flight.\npx")) << edits[0].text;
    EXPECT_EQ(panel->view()->visualRect(panel->model()->indexOf(half)).height(), before);
    EXPECT_EQ(link->details.at(half).summary.title, "A third of the barriers");

    bench.undoStack().undo();
    settle();
    EXPECT_EQ(link->details.at(half).summary.title, "Half the barriers");
    EXPECT_EQ(link->details.at(half).ideaText, "Half the barriers, because it keeps more bytes in flight.");
}

TEST_F(PlanTest, EscapeLeavesAnIdeaAsItIs)
{
    const NodeId half = idea("Half the barriers");
    panel->editIdea(half);
    settle();
    title()->setText(QStringLiteral("nonsense"));
    QTest::keyClick(title(), Qt::Key_Escape);
    settle();
    EXPECT_FALSE(panel->editor());
    EXPECT_TRUE(link->sent<command::EditIdea>().empty());
    panel->editIdea(half); // unchanged words are no act
    settle();
    QTest::keyClick(title(), Qt::Key_Return);
    settle();
    EXPECT_TRUE(link->sent<command::EditIdea>().empty());
    EXPECT_EQ(bench.undoStack().count(), 0);
}

TEST_F(PlanTest, ANewIdeaIsWrittenUnderTheSelectedKernelAndUndoPrunesIt)
{
    bench.select(NodeId{5});
    panel->writeIdea();
    settle();
    ASSERT_TRUE(panel->editor());
    EXPECT_EQ(bench.selected(), NodeId{5});
    QTest::keyClick(title(), Qt::Key_Return); // no title yet
    ASSERT_TRUE(panel->editor());
    bench.select(NodeId{1}); // where it goes was said when it was begun
    QTest::keyClicks(title(), QStringLiteral("Skip the tail"));
    QTest::keyClick(title(), Qt::Key_Return);
    settle();
    const auto added = link->sent<command::AddIdea>();
    ASSERT_EQ(added.size(), 4u);
    EXPECT_EQ(added.back().title, "Skip the tail");
    EXPECT_EQ(added.back().parent, NodeId{5});
    const NodeId made = idea("Skip the tail");
    EXPECT_EQ(bench.selected(), made);
    EXPECT_TRUE(panel->model()->indexOf(made).isValid());
    bench.undoStack().undo();
    settle();
    EXPECT_TRUE(link->details.at(made).summary.pruned);
    EXPECT_FALSE(panel->model()->indexOf(made).isValid());
    bench.undoStack().redo();
    settle();
    EXPECT_FALSE(link->details.at(made).summary.pruned);
    EXPECT_EQ(link->sent<command::AddIdea>().size(), 4u); // restored, not written twice
}

TEST_F(PlanTest, ARefusedIdeaIsNotTakenForALaterOne)
{
    bench.select(NodeId{1});
    panel->writeIdea();
    settle();
    title()->setText(QStringLiteral("Refused"));
    link->refuses = "add-idea";
    QTest::keyClick(title(), Qt::Key_Return);
    settle();
    link->refuses.clear();
    link->post(command::AddIdea{NodeId{1}, "Refused", "by somebody else"});
    settle();
    bench.undoStack().undo();
    settle();
    EXPECT_TRUE(link->sent<command::SetPruned>().empty());
}

TEST_F(PlanTest, AnEditorStaysOpenWhenItsIdeaLeavesThePlan)
{
    const NodeId half = idea("Half the barriers");
    panel->editIdea(half);
    settle();
    title()->setText(QStringLiteral("Still being typed"));
    link->change(half, [](NodeSummary& node) { node.state = NodeState::Done; });
    link->sendPlan();
    settle();
    ASSERT_TRUE(panel->editor());
    EXPECT_EQ(title()->text().toStdString(), "Still being typed");
    QTest::keyClick(title(), Qt::Key_Return); // the engine says why not
    settle();
    EXPECT_FALSE(panel->model()->indexOf(half).isValid());
}

TEST_F(PlanTest, DroppingAnIdeaHigherBoostsItBeyondWhatItPassed)
{
    const NodeId refill = idea("Refill while writing"), half = idea("Half the barriers");
    link->change(refill, [](NodeSummary& node) { node.boost = 4; });
    settle();
    PlanModel& model = *panel->model();
    const std::unique_ptr<QMimeData> dragged(model.mimeData({model.indexOf(half)}));
    const int to = model.indexOf(refill).row();
    ASSERT_TRUE(model.canDropMimeData(dragged.get(), Qt::MoveAction, to, 0, {}));
    model.dropMimeData(dragged.get(), Qt::MoveAction, to, 0, {});
    settle();
    EXPECT_EQ(link->details.at(half).summary.boost, 8);
    EXPECT_LT(model.indexOf(half).row(), model.indexOf(refill).row());
    EXPECT_TRUE(panel->model()->indexOf(half).data(Qt::ToolTipRole).toString().contains(QStringLiteral("boost 8")));

    const std::unique_ptr<QMimeData> down(model.mimeData({model.indexOf(half)}));
    model.dropMimeData(down.get(), Qt::MoveAction, model.rowCount(), 0, {}); // to the end
    settle();
    EXPECT_LT(link->details.at(half).summary.boost, 1);
    bench.undoStack().undo();
    bench.undoStack().undo();
    settle();
    EXPECT_EQ(link->details.at(half).summary.boost, 1);
    EXPECT_FALSE(model.flags(model.index(1)) & Qt::ItemIsDragEnabled); // what runs is not moved
}
