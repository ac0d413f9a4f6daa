// SPDX-License-Identifier: Apache-2.0
// The engineer has a kernel judged once more: verified, timed or profiled, in a running session and in one that stands.
#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

class JudgedAgain : public ::testing::Test
{
protected:
    JudgedAgain()
    {
        engine.hello.simulated = false;
        const auto idea = [](std::string id, std::string source) {
            return PlaybookIdea{id, "", id, "do " + id, {id + ".cu", std::move(source)}};
        };
        engine.task.playbook = {idea("good", "good time=50 \n"), idea("fair", "fair time=70 again=60 \n"),
                                idea("late", "late time=95 found=incorrect \n"),
                                idea("wrong", "wrong outcome=incorrect \n"), idea("broken", "broken build=failed \n")};
    }

    const NodeDetail& detailOf(const std::string& title)
    {
        engine.detail.reset();
        engine.post(command::FetchDetail{engine.node(title)});
        EXPECT_TRUE(engine.detail);
        return *engine.detail;
    }
    void again(const std::string& title, Again what)
    {
        engine.post(command::JudgeAgain{engine.node(title), what});
        engine.settle();
    }
    std::string refusal(NodeId node, Again what)
    {
        const std::size_t before = engine.failures.size();
        engine.post(command::JudgeAgain{node, what});
        EXPECT_EQ(engine.failures.size(), before + 1);
        return engine.failures.empty() ? "" : engine.failures.back().error.message;
    }

    EngineHarness engine;
};

TEST_F(JudgedAgain, AFinishedSessionStandsWhereItStood)
{
    ASSERT_TRUE(engine.open());
    engine.run();
    ASSERT_EQ(engine.status.state, RunState::Finished);
    const std::string why = engine.status.why;
    const std::int64_t evaluations = engine.status.evaluations;
    again("fair", Again::Profile);
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.why, why);
    EXPECT_EQ(engine.status.evaluations, evaluations) << "it is beside the budget";
    EXPECT_EQ(engine.finished.size(), 1U) << "no run has ended";
    ASSERT_TRUE(detailOf("fair").evaluation.profile);
    EXPECT_EQ(engine.detail->evaluation.profile->level, "full");
    EXPECT_TRUE(engine.failures.empty()) << engine.failures.front().error.message;
}

TEST_F(JudgedAgain, TimedInTheFullTierAndKeptOverAReopening)
{
    ASSERT_TRUE(engine.open());
    engine.post(command::Step{});
    engine.settle();
    engine.post(command::Step{});
    engine.settle();
    ASSERT_EQ(engine.status.state, RunState::Paused);
    ASSERT_NEAR(engine.summary("fair").timeUs->value, 70, 1e-9);
    again("fair", Again::Profile);
    EXPECT_NEAR(engine.summary("fair").timeUs->value, 70, 1e-9) << "a profile is no new time";
    EXPECT_FALSE(engine.summary("fair").measuredAgain);
    again("fair", Again::Verify);
    EXPECT_NEAR(engine.summary("fair").timeUs->value, 70, 1e-9);
    ASSERT_TRUE(detailOf("fair").evaluation.profile) << "verifying keeps the profile";
    again("fair", Again::Time);
    EXPECT_EQ(engine.status.state, RunState::Paused);
    EXPECT_NEAR(engine.summary("fair").timeUs->value, 60, 1e-9);
    EXPECT_TRUE(engine.summary("fair").measuredAgain);
    EXPECT_EQ(detailOf("fair").evaluation.timing->tier, "full");
    ASSERT_TRUE(engine.detail->evaluation.profile) << "timing keeps the profile";
    engine.drop();
    ASSERT_TRUE(engine.open());
    EXPECT_NEAR(engine.summary("fair").timeUs->value, 60, 1e-9);
    ASSERT_TRUE(detailOf("fair").evaluation.profile);
    EXPECT_EQ(engine.detail->evaluation.profile->level, "full");
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.best, engine.node("good"));
}

TEST_F(JudgedAgain, AFaultThatIsFoundLaterReplacesTheVerdict)
{
    ASSERT_TRUE(engine.open());
    engine.run();
    ASSERT_EQ(engine.summary("late").outcome, Outcome::Passed);
    again("late", Again::Verify);
    EXPECT_EQ(engine.summary("late").outcome, Outcome::Incorrect);
    EXPECT_NE(engine.summary("late").reason.find("row 17"), std::string::npos);
    engine.drop();
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.summary("late").outcome, Outcome::Incorrect);
    EXPECT_FALSE(engine.summary("late").timeUs);
}

TEST_F(JudgedAgain, WhileItRunsTheTreeBecomesTheSame)
{
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    NodeId first{0};
    while (first == NodeId{0} && engine.status.state == RunState::Running) {
        engine.turn();
        for (const auto& [id, node] : engine.nodes) { // what reaches the best runs again at once
            if (node.kind == NodeKind::Candidate && node.state == NodeState::Done && node.outcome == Outcome::Passed) {
                first = id;
            }
        }
    }
    ASSERT_NE(first, NodeId{0});
    engine.post(command::JudgeAgain{first, Again::Profile});
    EXPECT_TRUE(engine.failures.empty());
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    engine.post(command::FetchDetail{first});
    EXPECT_TRUE(engine.detail->evaluation.profile);
    EngineHarness other;
    other.hello = engine.hello;
    other.task = engine.task;
    ASSERT_TRUE(other.open());
    other.run();
    EXPECT_EQ(other.nodes.size(), engine.nodes.size());
    EXPECT_EQ(other.status.evaluations, engine.status.evaluations);
}

TEST_F(JudgedAgain, WhatCannotBeJudgedAgainIsRefusedInOneSentence)
{
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_NE(refusal(NodeId{999}, Again::Time).find("no node 999"), std::string::npos);
    EXPECT_NE(refusal(engine.node("broken"), Again::Verify).find("were built"), std::string::npos);
    EXPECT_NE(refusal(engine.node("wrong"), Again::Time).find("verify it again first"), std::string::npos);
    engine.post(command::JudgeAgain{engine.node("fair"), Again::Time});
    EXPECT_NE(refusal(engine.node("fair"), Again::Profile).find("already"), std::string::npos);
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    again("wrong", Again::Verify); // rejected once more, and said so
    EXPECT_EQ(engine.summary("wrong").outcome, Outcome::Incorrect);
}

TEST_F(JudgedAgain, APauseLeavesTheFiguresThatWereThere)
{
    ASSERT_TRUE(engine.open());
    engine.run();
    engine.post(command::JudgeAgain{engine.node("fair"), Again::Time});
    engine.post(command::Pause{});
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Paused);
    EXPECT_EQ(engine.summary("fair").state, NodeState::Done);
    EXPECT_TRUE(engine.summary("fair").timeUs);
}

} // namespace
} // namespace espalier
