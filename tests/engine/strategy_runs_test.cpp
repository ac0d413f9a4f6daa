// SPDX-License-Identifier: Apache-2.0
// Every strategy on a whole engine: the same seed the same tree, whatever the builders do and wherever it is cut off.
#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

/// A playbook with several branches and tunables on both of two shared constants, so that crossovers have something to
/// do.
Task branchingTask()
{
    Task task = fakeTask();
    task.playbook.push_back({"staged",
                             "",
                             "staged",
                             "stage it",
                             {"s.cu", "// espalier: tune BLOCK = 64 128 256\n#define BLOCK 64\n__shared__ time=70\n"}});
    task.playbook.push_back({"ahead",
                             "staged",
                             "ahead",
                             "copy ahead",
                             {"s2.cu", "// espalier: tune BLOCK = 64 128 256\n#define BLOCK 128\ncp.async time=45\n"}});
    return task;
}

void prepare(EngineHarness& engine, const std::string& strategy)
{
    engine.task = branchingTask();
    engine.options.strategy = strategy;
    engine.options.budget = Budget{20, {}, {}};
}

const char* const strategies[] = {"refine", "beam", "ucb", "evolution", "evolution:cross=1,islands=1", "sample"};

TEST(StrategyRuns, TheBuildersDoNotMatter)
{
    for (const char* strategy : strategies) {
        std::string expected;
        for (unsigned shuffle = 0; shuffle < 6; ++shuffle) {
            EngineHarness engine;
            prepare(engine, strategy);
            engine.shuffle = shuffle;
            ASSERT_TRUE(engine.open());
            engine.run();
            EXPECT_GE(engine.status.evaluations, 5) << strategy << "\n" << engine.tree();
            expected = expected.empty() ? engine.tree() : expected;
            ASSERT_EQ(engine.tree(), expected) << strategy;
        }
    }
}

TEST(StrategyRuns, AKillAnywhereEndsInTheSameTree)
{
    for (const char* strategy : strategies) {
        EngineHarness whole;
        prepare(whole, strategy);
        ASSERT_TRUE(whole.runUnlessKilled());
        for (int write = 1; write <= whole.writes; write += 5) {
            EngineHarness engine;
            prepare(engine, strategy);
            engine.writesBeforeKill = write;
            if (!engine.runUnlessKilled()) {
                engine.writesBeforeKill = -1;
                ASSERT_TRUE(engine.runUnlessKilled());
            }
            ASSERT_EQ(engine.tree(), whole.tree()) << strategy << " killed after write " << write;
        }
    }
}

TEST(StrategyRuns, ACrossoverHasTwoParents)
{
    EngineHarness engine;
    prepare(engine, "evolution:cross=1,islands=1");
    ASSERT_TRUE(engine.open());
    engine.run();
    int crossed = 0;
    for (const auto& [id, node] : engine.nodes) {
        for (const Edge& edge : node.parents) {
            crossed += edge.role == EdgeRole::Crossover;
        }
    }
    EXPECT_GT(crossed, 0) << engine.tree();
}

TEST(StrategyRuns, AnotherStrategyMayTakeOver)
{
    EngineHarness engine;
    prepare(engine, "refine");
    engine.options.budget = Budget{3, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.run();
    const std::string before = engine.tree();
    engine.options.strategy = "beam:width=1";
    engine.options.budget = Budget{12, {}, {}};
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.info.strategy, "beam:width=1");
    EXPECT_EQ(engine.tree(), before);
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 12);
    engine.drop();
    engine.options.strategy.reset();
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.info.strategy, "beam:width=1"); // it stays
    engine.drop();
    engine.options.strategy = "beam:width=0";
    EXPECT_EQ(engine.open().error().message, "width of strategy beam lies between 1 and 1000; \"0\" does not.");
}

TEST(StrategyRuns, ManualDoesWhatThePersonPointsAt)
{
    EngineHarness engine;
    prepare(engine, "manual");
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.nodes.size(), 1u) << engine.tree(); // the root is judged, nothing is asked
    EXPECT_NE(engine.status.why.find("waits for the engineer"), std::string::npos) << engine.status.why;
    engine.post(command::SetPinned{taskRoot, true});
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 0);
    NodeId idea{0};
    for (const auto& [id, node] : engine.nodes) {
        if (node.kind == NodeKind::Idea && node.title == "vector") {
            idea = id;
        }
    }
    engine.post(command::SetBoost{idea, 2});
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 1) << engine.tree();
}

} // namespace
} // namespace espalier
