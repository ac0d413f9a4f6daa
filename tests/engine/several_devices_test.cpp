// SPDX-License-Identifier: Apache-2.0
// Several devices of one kind: a candidate each, one tree.
#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

std::string treeOn(const std::string& devices, std::optional<std::int64_t> evaluations = std::nullopt,
                   unsigned shuffle = 0)
{
    EngineHarness engine;
    engine.options.device = devices;
    if (shuffle > 0) {
        engine.shuffle = shuffle;
    }
    EXPECT_TRUE(engine.open());
    engine.run(Budget{.evaluations = evaluations});
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    if (evaluations) {
        EXPECT_EQ(engine.status.evaluations, *evaluations) << "not one more than the budget";
    }
    return engine.tree();
}

TEST(SeveralDevices, EachHasACandidateAtATime)
{
    EngineHarness engine;
    engine.options.device = "sim,sim,sim";
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    int most = 0, running = 0;
    for (int i = 0; i < 20000 && engine.status.state != RunState::Finished; ++i) {
        engine.turn();
        most = std::max(most, engine.status.judging);
        running = 0;
        for (const auto& [id, node] : engine.nodes) {
            running += node.runningStage == Stage::Verify || node.runningStage == Stage::Time ? 1 : 0;
        }
        EXPECT_LE(running, 3);
    }
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_GE(most, 2);
    EXPECT_LE(most, 3);
    EXPECT_EQ(engine.ledger.timed[engine.task.root.text], 1) << "the root is timed once, before all";
}

TEST(SeveralDevices, TheTreeIsTheOneOfASingleDevice)
{
    const std::string single = treeOn("sim");
    EXPECT_EQ(treeOn("sim,sim"), single);
    EXPECT_EQ(treeOn("sim,sim,sim"), single);
    for (unsigned shuffle = 1; shuffle <= 5; ++shuffle) {
        EXPECT_EQ(treeOn("sim,sim", std::nullopt, shuffle), single);
    }
}

TEST(SeveralDevices, ABudgetIsNotPassed)
{
    for (const std::int64_t evaluations : {1, 2, 3, 7}) {
        EXPECT_EQ(treeOn("sim,sim,sim", evaluations), treeOn("sim", evaluations));
    }
}

TEST(SeveralDevices, ALostJudgeLosesItsOwnCandidateAlone)
{
    EngineHarness whole;
    whole.task.playbook[1].source.text += "judge=lost\n";
    ASSERT_TRUE(whole.open());
    whole.run();
    EngineHarness engine;
    engine.options.device = "sim,sim";
    engine.task.playbook[1].source.text += "judge=lost\n";
    *engine.losses = 1;
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.tree(), whole.tree());
}

TEST(SeveralDevices, AnUndisturbedAndACutRunAgree)
{
    const std::string whole = treeOn("sim,sim");
    for (int writes = 5; writes < 60; writes += 9) {
        EngineHarness engine;
        engine.options.device = "sim,sim";
        engine.writesBeforeKill = writes;
        while (!engine.runUnlessKilled()) {
        }
        EXPECT_EQ(engine.tree(), whole) << "killed after " << writes << " writes";
    }
}

TEST(SeveralDevices, UnlikeOnesAreRefused)
{
    EngineHarness engine;
    engine.hello.simulated = false;
    engine.options.device = "cuda:0,cuda:9";
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Failed);
    EXPECT_NE(engine.status.why.find("are not alike"), std::string::npos) << engine.status.why;
    EngineHarness twice;
    twice.options.device = "cuda:0,cuda:0";
    const auto opened = twice.open();
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("named twice"), std::string::npos);
    twice.options.device = "auto,sim";
    EXPECT_FALSE(twice.open());
}

} // namespace
} // namespace espalier
