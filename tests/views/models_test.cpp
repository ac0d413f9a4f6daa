// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/cpu_time.h"
#include "tests/views/view_fixture.h"
#include "views/leaderboard_model.h"
#include "views/leaderboard_panel.h"
#include "views/log_model.h"
#include "views/node_look.h"
#include "views/outline_model.h"
#include "views/outline_panel.h"
#include "views/sentence.h"
#include "views/stages_model.h"
#include "views/steering.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QInputDialog>
#include <QLineEdit>
#include <QSet>
#include <QTableView>
#include <QTreeView>

using namespace espalier;
using Tester = QAbstractItemModelTester;

namespace {

class Models : public ViewFixture
{
protected:
    static constexpr auto strict = Tester::FailureReportingMode::Fatal;

    /// The model as an indented list, so that a failure shows two texts.
    static std::string printed(const QAbstractItemModel& model, const QModelIndex& parent = {}, int depth = 0)
    {
        std::string out;
        for (int row = 0; row < model.rowCount(parent); ++row) {
            const QModelIndex index = model.index(row, 0, parent);
            out += std::string(std::size_t(2 * depth), ' ') + index.data().toString().toStdString() + "\n" +
                   printed(model, index, depth + 1);
        }
        return out;
    }

    static NodeSummary node(std::int64_t id, NodeKind kind, std::int64_t parent, const char* title)
    {
        NodeSummary summary;
        summary.id = NodeId{id};
        summary.kind = kind;
        summary.title = title;
        summary.ordinal = int(id);
        if (parent > 0) {
            summary.parents = {{NodeId{parent}, EdgeRole::Primary}};
        }
        return summary;
    }

    static NodeSummary timed(std::int64_t id, std::int64_t parent, const char* title, double us)
    {
        NodeSummary summary = node(id, NodeKind::Candidate, parent, title);
        summary.state = NodeState::Done;
        summary.outcome = Outcome::Passed;
        summary.provenance = Provenance::Model;
        summary.timeUs = Interval{us, us, us};
        summary.speedupRoot = Interval{1000 / us, 1000 / us, 1000 / us};
        return summary;
    }
};

} // namespace

TEST_F(Models, OutlineGrowsLive)
{
    OutlineModel model(bench);
    const Tester tester(&model, strict);
    link->add(node(1, NodeKind::Root, 0, "root"));
    open();
    link->add(node(2, NodeKind::Idea, 1, "vector"));
    link->add(node(4, NodeKind::Candidate, 2, "c4"));
    link->add(node(3, NodeKind::Candidate, 2, "c3")); // arrives late, stands first: the ordinal decides
    settle();
    EXPECT_EQ(printed(model), "1  root\n  2  vector\n    3  c3\n    4  c4\n");
    bench.bridge().close();
    EXPECT_EQ(printed(model), "");
}

TEST_F(Models, OutlineFilterKeepsTheWayAndTakesInNewMatches)
{
    OutlineModel model(bench);
    const Tester tester(&model, strict);
    link->add(node(1, NodeKind::Root, 0, "root"));
    link->add(node(2, NodeKind::Idea, 1, "vector loads"));
    link->add(timed(3, 2, "four wide", 500));
    link->add(node(4, NodeKind::Idea, 1, "shuffles"));
    open();
    model.setFilter({QStringLiteral("wide four"), false, false});
    EXPECT_EQ(printed(model), "1  root\n  2  vector loads\n    3  four wide\n");
    EXPECT_EQ(model.matches(), 1);
    link->add(node(5, NodeKind::Candidate, 4, "four wide again"));
    settle();
    EXPECT_EQ(printed(model), "1  root\n  2  vector loads\n    3  four wide\n  4  shuffles\n    5  four wide again\n");
    model.setFilter({{}, true, false});
    EXPECT_EQ(printed(model), "1  root\n  2  vector loads\n    3  four wide\n");
    link->change(NodeId{5}, [](NodeSummary& late) {
        late.state = NodeState::Done;
        late.outcome = Outcome::Passed;
    });
    settle();
    EXPECT_EQ(model.matches(), 2);
    model.setFilter({});
    EXPECT_EQ(model.rowCount(model.indexOf(NodeId{4})), 1);
}

TEST_F(Models, FilteringAnExpandedOutlineOfThousandsIsNotQuadratic)
{
    scriptBigTree(*link, 20000);
    OutlinePanel panel(bench);
    panel.resize(300, 600);
    panel.show();
    open();
    panel.view()->expandAll();
    auto* words = panel.findChild<QLineEdit*>();
    const double start = test::cpuSeconds();
    words->setText(QStringLiteral("number 77"));
    words->clear();
    settle();
    EXPECT_LT(test::cpuSeconds() - start, 8); // Qt's recursive filter under an expanded view takes 25 s
}

TEST_F(Models, LeaderboardOrdersAndMovesRows)
{
    LeaderboardModel model(bench);
    const Tester tester(&model, strict);
    link->add(timed(1, 0, "slow", 900));
    link->add(timed(2, 1, "fast", 500));
    link->add(timed(3, 1, "middle", 700));
    open();
    EXPECT_EQ(printed(model), "2  fast\n3  middle\n1  slow\n");
    const QPersistentModelIndex kept(model.indexOf(NodeId{3}));
    link->add(timed(4, 1, "faster", 400));
    link->change(NodeId{3}, [](NodeSummary& summary) { summary.timeUs->value = 300; });
    settle();
    EXPECT_EQ(printed(model), "3  middle\n4  faster\n2  fast\n1  slow\n");
    EXPECT_EQ(kept.row(), 0); // a selected row moves with its node
    link->change(NodeId{3}, [](NodeSummary& summary) { summary.outcome = Outcome::Suspicious; });
    settle();
    EXPECT_EQ(printed(model), "4  faster\n2  fast\n1  slow\n");
    EXPECT_FALSE(kept.isValid());
    EXPECT_EQ(model.index(0, LeaderboardModel::Speedup).data().toString().toStdString(), "≈ 2.50×");
    EXPECT_TRUE(model.index(0, LeaderboardModel::Speedup).data(Qt::FontRole).value<QFont>().italic());
}

/// A pruned branch looks pruned from its first node to its last, at once; so does what a ban has taken out.
TEST_F(Models, WhatIsOutOfTheSearchIsMuted)
{
    LeaderboardModel model(bench);
    const Tester tester(&model, strict);
    link->add(timed(1, 0, "root", 900));
    link->add(timed(2, 1, "branch", 700));
    link->add(timed(3, 2, "below", 600));
    link->add(timed(4, 1, "beside", 500));
    open();
    const auto muted = [&] {
        std::string ids;
        for (int row = 0; row < model.rowCount(); ++row) {
            const QModelIndex index = model.index(row, LeaderboardModel::Title);
            ids += index.data(Qt::ForegroundRole).isValid() ? index.data().toString().left(1).toStdString()
                                                            : std::string();
        }
        return ids;
    };
    QSet<int> redrawn;
    QObject::connect(&bench.nodes(), &NodeStore::updated, &bench, [&](const QList<int>&, const QList<int>& changed) {
        redrawn += QSet<int>(changed.begin(), changed.end());
    });
    EXPECT_EQ(muted(), "");
    link->change(NodeId{2}, [](NodeSummary& summary) { summary.pruned = true; });
    settle();
    EXPECT_EQ(muted(), "32");
    EXPECT_TRUE(redrawn.contains(bench.nodes().indexOf(NodeId{3})));
    EXPECT_FALSE(redrawn.contains(bench.nodes().indexOf(NodeId{4})));
    link->change(NodeId{2}, [](NodeSummary& summary) { summary.pruned = false; });
    link->change(NodeId{4}, [](NodeSummary& summary) { summary.banned = "at most 30 registers: k has 40"; });
    settle();
    EXPECT_EQ(muted(), "4");
}

TEST_F(Models, LeaderboardRanksOneEpochOnly)
{
    const auto of = [](NodeSummary summary, const char* epoch) {
        summary.epoch = epoch;
        return summary;
    };
    LeaderboardModel model(bench);
    const Tester tester(&model, strict);
    NodeSummary root = of(timed(1, 0, "root", 900), "driver A");
    root.kind = NodeKind::Root;
    link->add(root);
    link->add(of(timed(2, 1, "here", 500), "driver A"));
    link->add(of(timed(3, 1, "other machine", 100), "driver B"));
    open();
    EXPECT_EQ(printed(model), "2  here\n1  root\n");
    link->change(NodeId{1}, [](NodeSummary& summary) { summary.epoch = "driver B"; }); // the root was timed anew
    settle();
    EXPECT_EQ(printed(model), "3  other machine\n1  root\n");
}

TEST_F(Models, LeaderboardShowsTheIncumbentWhereThereIsOne)
{
    LeaderboardPanel panel(bench);
    link->add(timed(1, 0, "root", 900));
    open();
    EXPECT_TRUE(panel.view()->isColumnHidden(LeaderboardModel::Incumbent));
    link->change(NodeId{1}, [](NodeSummary& summary) { summary.speedupIncumbent = Interval{1.25, 1.2, 1.3}; });
    settle();
    EXPECT_FALSE(panel.view()->isColumnHidden(LeaderboardModel::Incumbent));
    EXPECT_EQ(panel.view()->model()->index(0, LeaderboardModel::Incumbent).data().toString().toStdString(), "≈ 1.25×");
}

TEST_F(Models, TheLeaderboardAndTheStarNameTheSameBest)
{
    const auto measured = [](std::int64_t id, const char* title, double us, double half) {
        NodeSummary summary = timed(id, id == 1 ? 0 : 1, title, us);
        summary.kind = id == 1 ? NodeKind::Root : NodeKind::Candidate;
        summary.provenance = Provenance::Measured;
        summary.timeUs = Interval{us, us * (1 - half), us * (1 + half)};
        const double speedup = 17100 / us;
        summary.speedupRoot = Interval{speedup, speedup * (1 - half), speedup * (1 + half)};
        return summary;
    };
    LeaderboardModel model(bench);
    const Tester tester(&model, strict);
    link->add(measured(1, "root", 17100, 0.001));
    link->add(measured(5, "the star", 181.2, 0.004));
    link->add(measured(6, "a hair faster", 181.0, 0.004));
    link->add(measured(7, "pruned", 100, 0.001));
    link->add(measured(8, "breaks the guard", 90, 0.001));
    link->add(measured(9, "slower", 200, 0.004));
    link->change(NodeId{7}, [](NodeSummary& summary) { summary.pruned = true; });
    link->change(NodeId{8}, [](NodeSummary& summary) { summary.guardBroken = true; });
    link->status.best = NodeId{5};
    open();
    std::string ranks;
    for (int row = 0; row < model.rowCount(); ++row) {
        ranks += model.headerData(row, Qt::Vertical).toString().toStdString() + " " +
                 model.index(row, 0).data().toString().toStdString() + "\n";
    }
    EXPECT_EQ(ranks, "1 5  the star\n– 8  breaks the guard\n– 7  pruned\n= 6  a hair faster\n3 9  slower\n4 1  root\n");
    const QString why = model.headerData(3, Qt::Vertical, Qt::ToolTipRole).toString();
    EXPECT_TRUE(why.contains(QStringLiteral("node 5"))) << why.toStdString();
    EXPECT_EQ(model.index(0, LeaderboardModel::Noise).data().toString().toStdString(), "±0.40 %");
    link->status.best = NodeId{9};
    link->sendStatus();
    settle();
    EXPECT_EQ(model.index(0, 0).data().toString().toStdString(), "9  slower") << "whatever the search calls its best";
    EXPECT_EQ(model.headerData(0, Qt::Vertical).toString().toStdString(), "1");
}

TEST_F(Models, TheLeaderboardIsSortedAndFiltered)
{
    LeaderboardPanel panel(bench);
    panel.resize(420, 300);
    panel.show();
    link->add(timed(1, 0, "root", 900));
    link->add(timed(2, 1, "BLOCK=256 HELD=4 VEC=2", 500));
    link->add(timed(3, 1, "BLOCK=256 HELD=4 VEC=4", 400));
    link->add(timed(4, 1, "BLOCK=512 HELD=4 VEC=4", 450));
    for (const auto& [id, registers] : {std::pair{2, 40}, {3, 64}, {4, 32}}) {
        link->details.at(NodeId{id}).summary.registers = registers;
    }
    open();
    const auto shown = [&] {
        std::string ids;
        for (int row = 0; row < panel.view()->model()->rowCount(); ++row) {
            ids += panel.view()->model()->index(row, 0).data().toString().left(1).toStdString();
        }
        return ids;
    };
    EXPECT_EQ(shown(), "3421");
    EXPECT_FALSE(panel.view()->isColumnHidden(LeaderboardModel::Registers));
    panel.view()->sortByColumn(LeaderboardModel::Registers, Qt::AscendingOrder);
    EXPECT_EQ(shown(), "1423");
    panel.view()->sortByColumn(-1, Qt::AscendingOrder);
    EXPECT_EQ(shown(), "3421") << "the ranks again";
    auto* words = panel.findChild<QLineEdit*>();
    words->setText(QStringLiteral("vec=4 256"));
    EXPECT_EQ(shown(), "3");
    EXPECT_EQ(panel.view()->model()->headerData(0, Qt::Vertical).toInt(), 1);
    words->setText(QStringLiteral("(vec"));
    EXPECT_EQ(shown(), "");
    words->clear();
    EXPECT_EQ(shown(), "3421");
    EXPECT_GE(panel.view()->columnWidth(LeaderboardModel::Title), 130) << "names keep their room";
}

TEST_F(Models, WhereALibraryWasTimedItIsSaid)
{
    const auto measured = [](NodeSummary summary, double speedup) {
        summary.provenance = Provenance::Measured;
        summary.speedupRoot = Interval{speedup, speedup * 0.99, speedup * 1.01};
        return summary;
    };
    NodeSummary root = measured(timed(1, 0, "root", 17100), 1);
    root.kind = NodeKind::Root;
    root.speedupRoot.reset();
    root.speedupLibrary = Interval{0.0105, 0.0104, 0.0106};
    root.library = "cublas";
    NodeSummary own = measured(timed(2, 1, "beside cublas", 181), 94.4);
    own.speedupLibrary = Interval{0.999, 0.99, 1.008};
    own.library = "cublas";
    link->add(root);
    link->add(own);
    link->add(measured(timed(3, 1, "quick tier", 300), 57));
    link->add(measured(timed(4, 1, "faster", 90), 190));
    open();
    LeaderboardModel model(bench);
    const auto cell = [&](std::int64_t id) {
        return model.index(model.indexOf(NodeId{id}).row(), LeaderboardModel::Library).data().toString().toStdString();
    };
    EXPECT_EQ(cell(2), "= 0.999×") << "a tie is a tie";
    EXPECT_EQ(cell(3), "0.599×") << "through the root, which was timed with it";
    EXPECT_EQ(cell(4), "2.00×");
    const std::string sentence = sentenceFor(own).toStdString();
    EXPECT_NE(sentence.find("as fast as cublas within the noise"), std::string::npos) << sentence;
    EXPECT_NE(sentenceFor(root).indexOf(QStringLiteral("slower than cublas")), -1) << sentenceFor(root).toStdString();
    LeaderboardPanel panel(bench);
    EXPECT_FALSE(panel.view()->isColumnHidden(LeaderboardModel::Library));
}

TEST_F(Models, AnOverturnedVerdictSaysWhoseWordItIs)
{
    NodeSummary summary = timed(5, 1, "kept", 500);
    summary.overturned =
        Overturn{Outcome::Passed, "the oracle rounds twice", "ada", "2026-11-30T08:00:00Z", Outcome::Incorrect};
    EXPECT_EQ(sentenceFor(summary).toStdString(),
              "Accepted by ada although the judge said incorrect: the oracle rounds twice.");
    EXPECT_TRUE(lookOf(summary, false).overturned);
    EXPECT_NE(spokenText(summary, false).indexOf(QStringLiteral("overturned by hand")), -1);
}

TEST_F(Models, AnOverturnIsSentWithItsReason)
{
    Steering steering(bench);
    link->add(timed(1, 0, "root", 900));
    NodeSummary wrong = timed(2, 1, "wrong", 500);
    wrong.outcome = Outcome::Incorrect;
    link->add(wrong);
    link->add(node(3, NodeKind::Idea, 1, "idea"));
    open();
    bench.select(NodeId{3});
    EXPECT_FALSE(steering.action(Act::Overturn)->isEnabled());
    bench.select(NodeId{2});
    ASSERT_TRUE(steering.action(Act::Overturn)->isEnabled());
    steering.action(Act::Overturn)->trigger();
    QInputDialog* dialog = nullptr;
    for (QWidget* widget : QApplication::topLevelWidgets()) {
        dialog = dialog ? dialog : qobject_cast<QInputDialog*>(widget);
    }
    ASSERT_TRUE(dialog);
    dialog->setTextValue(QStringLiteral(" flushes denormals, which we allow "));
    dialog->accept();
    const auto sent = link->sent<command::Overturn>();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].node, NodeId{2});
    EXPECT_TRUE(sent[0].passed);
    EXPECT_EQ(sent[0].reason, "flushes denormals, which we allow");
}

TEST_F(Models, LogIsARing)
{
    LogModel model(100);
    const Tester tester(&model, strict);
    for (int batch = 0; batch < 5; ++batch) {
        QList<QPair<QString, QString>> lines;
        for (int i = 0; i < 30; ++i) {
            lines += {QStringLiteral("t"), QStringLiteral("line %1").arg(batch * 30 + i)};
        }
        model.append(lines);
    }
    EXPECT_EQ(model.rowCount(), 100);
    EXPECT_EQ(model.index(99).data().toString().toStdString(), "t  line 149");
    EXPECT_EQ(model.index(0).data().toString().toStdString(), "t  line 50");
    model.append(QList<QPair<QString, QString>>(500, {QStringLiteral("t"), QStringLiteral("x")}));
    EXPECT_EQ(model.rowCount(), 100);
}

TEST_F(Models, StagesShowEveryDetailOfTheStory)
{
    StagesModel model(themes);
    const Tester tester(&model, strict);
    scriptSoftmax(*link, Provenance::Model);
    for (const auto& [id, detail] : link->details) {
        model.setDetail(std::make_shared<NodeDetail>(detail));
        ASSERT_EQ(model.rowCount(), 4);
    }
    model.setDetail(nullptr);
    EXPECT_EQ(model.rowCount(), 0);
}
