// SPDX-License-Identifier: Apache-2.0
#include "core/engine/one_shot.h"

#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

Result<OneShotResult> evaluated(EngineHarness& world, const std::string& source, std::stop_token stop = {})
{
    return evaluateOnce({.task = "fake", .source = source}, world.parts(), {}, std::move(stop));
}

TEST(OneShot, AnHonestKernelPasses)
{
    EngineHarness world;
    std::vector<Stage> stages;
    const auto result = evaluateOnce({.task = "fake", .source = "mine time=25\n"}, world.parts(),
                                     [&stages](Stage stage, const std::string&) { stages.push_back(stage); }, {});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->evaluation.outcome, Outcome::Passed);
    EXPECT_NEAR(result->evaluation.timing->speedupRoot->value, 4, 1e-9);
    EXPECT_TRUE(result->evaluation.build);
    EXPECT_TRUE(result->evaluation.verify);
    EXPECT_FALSE(result->evaluation.epoch.empty());
    EXPECT_EQ(stages.front(), Stage::Build);
    EXPECT_EQ(stages.back(), Stage::Time);
}

TEST(OneShot, FailuresOfTheCandidateAreData)
{
    EngineHarness world;
    const auto broken = evaluated(world, "mine build=failed\n");
    ASSERT_TRUE(broken);
    EXPECT_EQ(broken->evaluation.outcome, Outcome::BuildFailed);
    EXPECT_EQ(broken->evaluation.stage, Stage::Build);
    const auto wrong = evaluated(world, "mine outcome=incorrect\n");
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->evaluation.outcome, Outcome::Incorrect);
    EXPECT_TRUE(wrong->evaluation.build);
}

TEST(OneShot, TheRootItselfPassesAtOne)
{
    EngineHarness world;
    const auto result = evaluated(world, world.task.root.text);
    ASSERT_TRUE(result);
    EXPECT_NEAR(result->evaluation.timing->speedupRoot->value, 1, 1e-9);
}

TEST(OneShot, TheTasksIncumbentIsTimedAsARival)
{
    EngineHarness world;
    EXPECT_FALSE(evaluated(world, "mine time=25\n")->evaluation.timing->speedupIncumbent);
    world.task.incumbent = SourceFile{"old.cu", "old time=50\n"};
    const auto result = evaluated(world, "mine time=25\n");
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_TRUE(result->evaluation.timing->speedupIncumbent);
    EXPECT_NEAR(result->evaluation.timing->speedupIncumbent->value, 2, 1e-9);
    world.task.incumbent->text = "old build=failed\n";
    EXPECT_EQ(evaluated(world, "mine time=25\n").error().message,
              "The incumbent old.cu does not build: candidate.cu:1: expected a ';'");
}

TEST(OneShot, FailuresOfOursAreErrors)
{
    EngineHarness world;
    EXPECT_EQ(evaluateOnce({.task = "none", .source = "x"}, world.parts(), {}, {}).error().code, ErrorCode::NotFound);
    EXPECT_EQ(evaluateOnce({.task = "fake", .source = "x", .caseIds = {"big"}}, world.parts(), {}, {}).error().message,
              "Task fake has no case \"big\".");
    world.task.oracle.source.text = "oracle build=failed";
    EXPECT_EQ(evaluated(world, "mine time=25\n").error().message,
              "The oracle of task fake does not build: candidate.cu:1: expected a ';'");
    world.noJudge = Error{ErrorCode::NotFound, "No driver."};
    EXPECT_EQ(evaluated(world, "mine time=25\n").error().message, "No driver.");
}

TEST(OneShot, ALostJudgeIsTriedOnceMore)
{
    EngineHarness world;
    *world.losses = 1;
    EXPECT_EQ(evaluated(world, "mine time=25 judge=lost\n")->evaluation.outcome, Outcome::Passed);
    *world.losses = 2;
    EXPECT_EQ(evaluated(world, "mine time=25 judge=lost\n").error().code, ErrorCode::WorkerLost);
}

TEST(OneShot, ARequestedStopEndsItAsCancelled)
{
    EngineHarness world;
    std::stop_source stop;
    stop.request_stop();
    const auto result = evaluated(world, "mine time=25\n", stop.get_token());
    ASSERT_TRUE(result);
    EXPECT_EQ(result->evaluation.outcome, Outcome::NotRun);
    EXPECT_EQ(result->evaluation.cause, NotRunCause::Cancelled);
}

} // namespace
} // namespace espalier
