// SPDX-License-Identifier: Apache-2.0
// What reaches the front is timed in the full tier, winners are measured again before they make a headline; measured
// devices only.
#include "tests/engine/engine_harness.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace espalier {
namespace {

class Winners : public ::testing::Test
{
protected:
    Winners()
    {
        engine.hello.simulated = false;
        const auto idea = [](std::string id, std::string source) {
            return PlaybookIdea{id, "", id, "do " + id, {id + ".cu", std::move(source)}};
        };
        engine.task.playbook = {idea("slow", "slow time=150 \n"), idea("good", "good time=50 \n"),
                                idea("lucky", "lucky time=40 again=90 \n"), idea("fair", "fair time=70 \n")};
    }
    int timed(const std::string& title) const
    {
        for (const auto& [source, count] : engine.ledger.timed) {
            if (source.starts_with(title + " ")) {
                return count;
            }
        }
        return 0;
    }

    EngineHarness engine;
};

TEST_F(Winners, TheHeadlineIsTheSecondMeasurement)
{
    ASSERT_TRUE(engine.open());
    engine.run();
    ASSERT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    ASSERT_EQ(engine.finished.size(), 1u);
    const RunSummary& summary = engine.finished[0];
    EXPECT_EQ(summary.provenance, Provenance::Measured);
    EXPECT_EQ(summary.best, engine.node("good")) << engine.tree(); // the lucky one was 40 us once
    EXPECT_EQ(engine.status.best, summary.best);
    EXPECT_EQ(summary.counts.evaluations, 4); // measuring again is not paid from the budget
    EXPECT_EQ(timed("good"), 3);              // quick, full when it reached the best, and as a winner
    EXPECT_EQ(timed("lucky"), 2);             // the full tier showed that it is none
    EXPECT_EQ(timed("slow"), 1);
    EXPECT_TRUE(engine.summary("good").measuredAgain);
    EXPECT_FALSE(engine.summary("lucky").measuredAgain);
    EXPECT_NEAR(engine.summary("lucky").timeUs->value, 90, 1e-9);
    for (const auto& [id, node] : engine.nodes) {
        EXPECT_EQ(node.state, NodeState::Done) << node.title;
    }
}

/// The strategy's choice after it shows that the full figure was there first: under the quick one it would have grown
/// the lucky kernel.
TEST_F(Winners, WhatReachesTheBestIsTimedInFullBeforeTheSearchBuildsOnIt)
{
    ASSERT_TRUE(engine.open());
    engine.run();
    std::vector<std::string> fronts;
    for (const std::string& line : engine.log) {
        if (line.find("reaches the best") != std::string::npos) {
            fronts.push_back(line);
        }
    }
    ASSERT_EQ(fronts.size(), 2u) << ::testing::PrintToString(engine.log);
    EXPECT_NE(fronts[0].find(fmt::format("Node {} ", engine.node("good").value)), std::string::npos) << fronts[0];
    EXPECT_NE(fronts[1].find(fmt::format("Node {} ", engine.node("lucky").value)), std::string::npos) << fronts[1];
}

TEST_F(Winners, WhatIsPrunedAtTheJudgeIsNotTimedInFull)
{
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    const auto atTheJudge = [this] {
        return std::any_of(engine.nodes.begin(), engine.nodes.end(), [](const auto& entry) {
            return entry.second.title == "good" && entry.second.runningStage >= Stage::Verify;
        });
    };
    engine.secondsPerTurn = 0.06; // every turn is reported
    for (int i = 0; i < 5000 && !atTheJudge(); ++i) {
        engine.turn();
    }
    ASSERT_TRUE(atTheJudge()) << engine.tree();
    engine.post(command::SetPruned{engine.node("good"), true});
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(engine.summary("good").outcome, Outcome::Passed);
    EXPECT_EQ(timed("good"), 1) << "nothing is built on it";
    EXPECT_GE(timed("lucky"), 2) << "and it holds nothing up";
}

TEST_F(Winners, AFinishedSessionDoesNotMeasureThemOnceMore)
{
    ASSERT_TRUE(engine.open());
    engine.run();
    engine.drop();
    ASSERT_TRUE(engine.open());
    EXPECT_TRUE(engine.summary("good").measuredAgain);
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.finished.back().best, engine.node("good"));
    EXPECT_EQ(timed("good"), 3);
    EXPECT_EQ(timed("lucky"), 2);
}

TEST_F(Winners, OneThatFailsOnNewInputsIsNoWinner)
{
    engine.task.playbook[2].source.text = "lucky time=40 found=incorrect \n";
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.finished.at(0).best, engine.node("good"));
    EXPECT_EQ(engine.summary("lucky").outcome, Outcome::Incorrect);
    EXPECT_EQ(engine.finished[0].counts.rejected, 1);
    engine.drop();
    ASSERT_TRUE(engine.open()); // the later record is the one that counts
    EXPECT_EQ(engine.summary("lucky").outcome, Outcome::Incorrect);
}

TEST_F(Winners, AnUnrunSecondMeasurementLeavesTheFirst)
{
    engine.task.playbook[2].source.text = "lucky time=40 found=not_run cause=infrastructure \n";
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(engine.summary("lucky").outcome, Outcome::Passed);
    EXPECT_FALSE(engine.summary("lucky").measuredAgain);
    EXPECT_EQ(engine.finished.at(0).best, engine.node("good")); // it was measured again, the lucky one was not
}

TEST_F(Winners, TheyAreMeasuredThoughTheSecondsAreUsedUp)
{
    ASSERT_TRUE(engine.open());
    engine.secondsPerTurn = 0.5;
    engine.run(Budget{{}, 4, {}});
    ASSERT_EQ(engine.finished.size(), 1u);
    EXPECT_NE(engine.status.why.find("seconds is used up"), std::string::npos) << engine.status.why;
    if (*engine.finished[0].best != taskRoot) {
        EXPECT_TRUE(engine.nodes.at(*engine.finished[0].best).measuredAgain);
    }
}

TEST_F(Winners, APauseMeanwhileLeavesEveryNodeDone)
{
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    const auto measuring = [this] {
        for (const std::string& line : engine.log) {
            if (line.find("measured again") != std::string::npos) {
                return true;
            }
        }
        return false;
    };
    for (int i = 0; i < 10000 && !measuring(); ++i) {
        engine.turn();
    }
    ASSERT_TRUE(measuring());
    engine.post(command::Pause{});
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Paused);
    for (const auto& [id, node] : engine.nodes) {
        EXPECT_EQ(node.state, NodeState::Done) << node.title;
    }
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.finished.back().best, engine.node("good"));
}

TEST_F(Winners, ModelledFiguresAreExactAndStay)
{
    engine.hello.simulated = true;
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.finished.at(0).best, engine.node("lucky"));
    EXPECT_EQ(timed("lucky"), 1);
}

} // namespace
} // namespace espalier
