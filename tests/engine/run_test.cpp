// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/engine_harness.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(Run, AWholeSearchFindsTheBestAndTriesEverythingOnce)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.status.state, RunState::Idle);
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(engine.status.why, "nothing is left to try: every idea of the proposers was tried");
    ASSERT_EQ(engine.finished.size(), 1u);
    const RunSummary& summary = engine.finished[0];
    EXPECT_EQ(summary.bestFoundBy, "playbook") << engine.tree();
    EXPECT_EQ(engine.nodes.at(*summary.best).title, "shared") << engine.tree();
    EXPECT_EQ(summary.provenance, Provenance::Model);
    // Six of the playbook, eleven of the registers' grid of twelve.
    EXPECT_EQ(summary.counts.evaluations, 17) << engine.tree();
    EXPECT_EQ(summary.counts.failed, 1);
    EXPECT_EQ(summary.counts.rejected, 1);
    EXPECT_EQ(summary.counts.passed, 15);
    EXPECT_EQ(engine.node("BLOCK=512 ITEMS=512"), engine.node("BLOCK=512 ITEMS=512"));
    EXPECT_EQ(engine.summary("cluster").reason, "row 17 of call 3 was never written");
    for (const auto& [source, count] : engine.ledger.compiled) {
        EXPECT_EQ(count, 1) << source;
    }
    for (const auto& [source, count] : engine.ledger.timed) {
        EXPECT_EQ(count, 1) << source;
    }
    EXPECT_EQ(engine.ledger.judgesStarted, 1);
}

TEST(Run, PlaybookIdeasStandUnderTheirParents)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.run();
    const auto parentOf = [&engine](NodeId id) { return engine.nodes.at(id).parents.at(0).parent; };
    EXPECT_EQ(parentOf(parentOf(engine.node("registers"))), engine.node("vector"));
    EXPECT_EQ(parentOf(parentOf(engine.node("cluster"))), engine.node("registers"));
    EXPECT_EQ(engine.nodes.at(parentOf(engine.node("vector"))).kind, NodeKind::Idea);
    EXPECT_EQ(engine.summary("vector").speedupParent, engine.summary("vector").speedupRoot);
    EXPECT_NEAR(engine.summary("shared").speedupParent->value, fakeTime(engine.task.playbook[3].source.text) / 45,
                0.01);
}

TEST(Run, NoNodeStaysRunningOrQueued)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.run();
    for (const auto& [id, node] : engine.nodes) {
        EXPECT_EQ(node.state, NodeState::Done) << node.title;
        EXPECT_FALSE(node.runningStage);
    }
    engine.drop();
    for (const StoredNode& node : engine.storedNodes()) {
        EXPECT_EQ(node.state, NodeState::Done) << node.title;
    }
}

TEST(Run, TheBudgetOfEvaluationsIsExact)
{
    for (const std::int64_t budget : {0, 1, 2, 5, 7, 12}) {
        EngineHarness engine;
        engine.options.budget = Budget{budget, {}, {}};
        ASSERT_TRUE(engine.open());
        engine.run();
        EXPECT_EQ(engine.status.state, RunState::Finished);
        EXPECT_EQ(engine.status.evaluations, budget) << engine.tree();
        EXPECT_EQ(engine.status.why, "the budget of " + std::to_string(budget) + " evaluations is used up");
        for (const auto& [id, node] : engine.nodes) {
            EXPECT_TRUE(node.kind == NodeKind::Idea || node.state == NodeState::Done) << engine.tree();
        }
    }
}

TEST(Run, ALargerBudgetGoesOnAsIfItHadBeenThereBefore)
{
    EngineHarness whole;
    whole.options.budget = Budget{12, {}, {}};
    ASSERT_TRUE(whole.open());
    whole.run();
    for (const std::int64_t first : {1, 3, 6, 11}) {
        EngineHarness parts;
        parts.options.budget = Budget{first, {}, {}};
        ASSERT_TRUE(parts.open());
        parts.run();
        parts.run(Budget{12, {}, {}});
        EXPECT_EQ(parts.tree(), whole.tree()) << first;
        EXPECT_EQ(parts.finished.size(), 2u);
    }
}

TEST(Run, ASmallerBudgetStartsNothingMore)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    while (engine.status.evaluations < 3) {
        engine.turn();
    }
    engine.post(command::Pause{});
    engine.settle();
    const std::int64_t done = engine.status.evaluations;
    engine.run(Budget{1, {}, {}});
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.evaluations, done);
}

TEST(Run, TheBudgetOfSecondsEndsTheRun)
{
    EngineHarness engine;
    engine.secondsPerTurn = 1;
    engine.options.budget = Budget{{}, 20.0, {}};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.why, "the budget of 20 seconds is used up");
    EXPECT_GE(engine.status.seconds, 20);
    EXPECT_LT(engine.status.seconds, 26); // what the judge had begun was finished
    EXPECT_EQ(engine.status.judging, 0);
    const double spent = engine.status.seconds;
    engine.drop();
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.why, "the budget of 20 seconds is used up");
    EXPECT_NEAR(engine.status.seconds, spent, 3);
}

TEST(Run, PauseEndsWhatRunsAndStartsNothing)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    for (int i = 0; i < 15; ++i) {
        engine.turn();
    }
    engine.post(command::Pause{});
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Paused);
    EXPECT_EQ(engine.status.building, 0);
    EXPECT_EQ(engine.status.judging, 0);
    for (const auto& [id, node] : engine.nodes) {
        EXPECT_NE(node.state, NodeState::Running) << engine.tree();
    }
    const auto tree = engine.tree();
    for (int i = 0; i < 20; ++i) {
        engine.turn();
    }
    EXPECT_EQ(engine.tree(), tree);
    engine.run();
    EngineHarness whole;
    ASSERT_TRUE(whole.open());
    whole.run();
    EXPECT_EQ(engine.tree(), whole.tree());
}

TEST(Run, AStepIsOneExpansion)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    for (int step = 1; step <= 4; ++step) {
        engine.post(command::Step{});
        engine.settle();
        EXPECT_EQ(engine.status.state, RunState::Paused);
        EXPECT_EQ(engine.status.why, "the step is done");
        EXPECT_EQ(engine.status.evaluations, step) << engine.tree();
    }
    engine.run();
    EngineHarness whole;
    ASSERT_TRUE(whole.open());
    whole.run();
    EXPECT_EQ(engine.tree(), whole.tree());
}

TEST(Run, StopAbandonsAndTheNextRunGoesOn)
{
    EngineHarness whole;
    ASSERT_TRUE(whole.open());
    whole.run();
    for (const int turns : {0, 1, 3, 8, 20, 40}) {
        EngineHarness engine;
        ASSERT_TRUE(engine.open());
        engine.post(command::Run{});
        for (int i = 0; i < turns; ++i) {
            engine.turn();
        }
        engine.post(command::Stop{});
        engine.drop();
        for (const StoredNode& node : engine.storedNodes()) {
            EXPECT_NE(node.state, NodeState::Running);
        }
        ASSERT_TRUE(engine.open());
        engine.run();
        EXPECT_EQ(engine.tree(), whole.tree()) << turns;
    }
}

TEST(Run, IdleBuildersCompileAheadWhatWillBeAskedFor)
{
    EngineHarness engine;
    engine.options.budget = Budget{4, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    while (engine.summary("root").state != NodeState::Done) {
        engine.turn();
    }
    EXPECT_TRUE(engine.ledger.compiled.contains("vector time=80 \n"));
    EXPECT_TRUE(engine.ledger.compiled.contains("warp time=200 \n"));
    engine.settle();
    // The four of the budget are warp, vector, broken and registers; what follows those is not needed any more.
    EXPECT_FALSE(engine.ledger.compiled.contains("shared time=45 \n")) << engine.tree();
    EXPECT_EQ(engine.status.building, 0);
}

TEST(Run, SampleTriesEveryIdeaOnTheRoot)
{
    EngineHarness engine;
    engine.options.strategy = "sample";
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 6) << engine.tree();
    for (const auto& [id, node] : engine.nodes) {
        EXPECT_TRUE(node.kind != NodeKind::Idea || node.parents.at(0).parent == NodeId{1}) << engine.tree();
    }
}

TEST(Run, ADuplicateIsNotBuiltTwice)
{
    EngineHarness engine;
    engine.task.playbook.push_back({"again", "", "again", "the same", {"a.cu", "// other words\nwarp   time=200\n"}});
    ASSERT_TRUE(engine.open());
    engine.run();
    const NodeSummary& again = engine.summary("again");
    EXPECT_EQ(again.outcome, Outcome::NotRun);
    EXPECT_EQ(again.cause, NotRunCause::NoSource);
    EXPECT_NE(again.reason.find("is the same as that of node"), std::string::npos) << again.reason;
    EXPECT_EQ(engine.status.evaluations, 17);
}

TEST(Run, ChangesAreCoalesced)
{
    EngineHarness engine;
    engine.secondsPerTurn = 0.001;
    ASSERT_TRUE(engine.open());
    const double start = engine.now;
    engine.run();
    EXPECT_LE(engine.changes, (engine.now - start) / 0.05 + 6);
}

TEST(Run, StatusSaysRateAndTimeLeft)
{
    EngineHarness engine;
    engine.secondsPerTurn = 0.5;
    engine.options.budget = Budget{12, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    while (engine.status.evaluations < 5) {
        engine.turn();
    }
    EXPECT_GT(engine.status.evaluationsPerSecond, 0);
    EXPECT_NEAR(*engine.status.secondsLeft, 7 / engine.status.evaluationsPerSecond, 1);
    EXPECT_TRUE(engine.status.best);
}

} // namespace
} // namespace espalier
