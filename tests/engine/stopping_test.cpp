// SPDX-License-Identifier: Apache-2.0
// Rules by which a session has enough: a target, the roof, a plateau.
#include "core/store/store.h"
#include "tests/engine/engine_harness.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace espalier {
namespace {

class Stopping : public ::testing::Test
{
protected:
    bool logged(const std::string& words) const { return timesLogged(words) > 0; }
    std::int64_t timesLogged(const std::string& words) const
    {
        return std::count_if(engine.log.begin(), engine.log.end(),
                             [&](const std::string& line) { return line.find(words) != std::string::npos; });
    }
    static PlaybookIdea idea(std::string id, std::string source)
    {
        return {id, "", id, "do " + id, {id + ".cu", std::move(source)}};
    }

    EngineHarness engine;
};

TEST_F(Stopping, TheTargetEndsTheRunWhenTheIntervalReachesIt)
{
    engine.options.budget = Budget{.target = 1.2};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    const std::string node = std::to_string(engine.node("vector").value);
    EXPECT_EQ(engine.status.why,
              "the target of 1.2x over the root is reached: node " + node + " is at least ≈1.238x as fast");
    EXPECT_LT(engine.status.evaluations, 17);
    ASSERT_EQ(engine.finished.size(), 1u);
    EXPECT_EQ(engine.finished[0].why, engine.status.why);
    // 1.25 stands in the interval of "vector" and is not surely reached.
    const std::int64_t early = engine.status.evaluations;
    engine.run(Budget{.target = 1.25});
    EXPECT_GT(engine.status.evaluations, early);
    EXPECT_EQ(engine.status.why.find("node " + node), std::string::npos) << engine.status.why;
}

TEST_F(Stopping, ATargetThatIsNeverReachedEndsNothing)
{
    engine.options.budget = Budget{.target = 9};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 17);
    EXPECT_EQ(engine.status.why, "nothing is left to try: every idea of the proposers was tried");
}

TEST_F(Stopping, TheTargetIsOverTheIncumbentWhereThereIsOne)
{
    engine.task.incumbent = SourceFile{"old.cu", "old time=60 \n"};
    engine.options.budget = Budget{.target = 1.2};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_NE(engine.status.why.find("the target of 1.2x over the incumbent is reached"), std::string::npos)
        << engine.status.why;
    EXPECT_GE(engine.nodes.at(*engine.status.best).speedupIncumbent->low, 1.2);
    EXPECT_NE(*engine.status.best, engine.node("vector")); // slower than the incumbent
}

TEST_F(Stopping, OneLuckyFigureIsNoTargetReached)
{
    engine.hello.simulated = false;
    engine.task.playbook = {idea("lucky", "lucky time=40 again=90 \n"), idea("slow", "slow time=150 \n"),
                            idea("fair", "fair time=70 \n"), idea("slower", "slower time=160 \n"),
                            idea("good", "good time=45 \n")};
    engine.options.budget = Budget{.target = 2};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_TRUE(logged("The search goes on; no longer true: the target of 2x")) << engine.status.why;
    const std::string good = std::to_string(engine.node("good").value);
    EXPECT_NE(engine.status.why.find("is reached: node " + good), std::string::npos) << engine.status.why;
    EXPECT_TRUE(engine.summary("good").measuredAgain);
    EXPECT_EQ(engine.finished.at(0).best, engine.node("good"));
}

TEST_F(Stopping, ATargetThatCannotBeConfirmedDoesNotHoldTheRunUp)
{
    engine.hello.simulated = false;
    engine.task.playbook = {idea("lucky", "lucky time=40 found=not_run cause=infrastructure \n"),
                            idea("fair", "fair time=70 \n")};
    engine.options.budget = Budget{.target = 2};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.evaluations, 2);
    EXPECT_EQ(engine.status.why.find("is reached"), std::string::npos) << engine.status.why;
}

TEST_F(Stopping, APlateauIsSoManyEvaluationsWithoutANewBest)
{
    engine.task.playbook = {idea("first", "first time=50 \n")};
    for (int i = 0; i < 9; ++i) {
        engine.task.playbook.push_back(idea("slow" + std::to_string(i), "slow" + std::to_string(i) + " time=90 \n"));
    }
    engine.options.budget = Budget{.plateau = 4};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.why,
              "the search is on a plateau: the last 4 evaluations brought nothing faster than node " +
                  std::to_string(engine.node("first").value));
    EXPECT_GE(engine.status.evaluations, 5);
    EXPECT_LT(engine.status.evaluations, 10);
    // A reopened session thinks likewise, and starts nothing.
    const std::int64_t done = engine.status.evaluations;
    const std::string why = engine.status.why;
    engine.options.budget.reset();
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.info.budget, (Budget{.plateau = 4}));
    engine.run();
    EXPECT_EQ(engine.status.evaluations, done);
    EXPECT_EQ(engine.status.why, why);
    engine.run(Budget{});
    EXPECT_EQ(engine.status.evaluations, 10);
}

TEST_F(Stopping, TheRoofIsTheDistanceFromTheGoalFloor)
{
    engine.task.root.text = "root time=100 floor=44 \n";
    engine.options.budget = Budget{.roofPercent = 5};
    ASSERT_TRUE(engine.open());
    engine.run();
    const std::string shared = std::to_string(engine.node("shared").value);
    EXPECT_EQ(engine.status.why, "the roof is reached: node " + shared +
                                     " takes at most ≈45.45 us, within 5 % of the goal floor of 44 us");
    EXPECT_LT(engine.status.evaluations, 17);
    engine.run(Budget{.roofPercent = 1}); // 44.44 us: nothing gets there
    EXPECT_EQ(engine.status.evaluations, 17);
    EXPECT_FALSE(logged("nothing to stand on"));
}

TEST_F(Stopping, ARoofWithoutAFloorIsSaidOnce)
{
    engine.options.budget = Budget{.roofPercent = 5};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 17);
    EXPECT_EQ(timesLogged("has nothing to stand on: no goal floor of task fake is known on Simulated H200"), 1);
}

TEST_F(Stopping, AStepOfTheEngineersIsNeverRefused)
{
    engine.options.budget = Budget{.target = 1.2};
    ASSERT_TRUE(engine.open());
    engine.run();
    const std::int64_t done = engine.status.evaluations;
    engine.post(command::Step{});
    engine.settle();
    EXPECT_EQ(engine.status.evaluations, done + 1) << engine.status.why;
}

TEST_F(Stopping, RulesWithoutSenseAreRefused)
{
    for (const Budget& budget :
         {Budget{.target = 0}, Budget{.target = -2}, Budget{.roofPercent = -1}, Budget{.plateau = 0}}) {
        engine.options.budget = budget;
        EXPECT_FALSE(engine.open());
    }
}

} // namespace
} // namespace espalier
