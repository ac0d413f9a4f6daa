// SPDX-License-Identifier: Apache-2.0
#include "core/search/fault_blame.h"
#include "core/search/judge_losses.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

Evaluation ours(const std::string& reason)
{
    Evaluation evaluation;
    evaluation.outcome = Outcome::NotRun;
    evaluation.cause = NotRunCause::Infrastructure;
    evaluation.reason = reason;
    return evaluation;
}

TEST(BuildFaults, OneIsChanceTwoWantAControl)
{
    BuildFaults faults;
    EXPECT_EQ(faults.after("a", ours("cicc died")), BuildFaults::Next::Again);
    EXPECT_EQ(faults.after("b", ours("cicc died")), BuildFaults::Next::Again);
    EXPECT_FALSE(faults.awaitsControl("a"));
    EXPECT_EQ(faults.after("a", ours("cicc died again")), BuildFaults::Next::Control);
    EXPECT_TRUE(faults.awaitsControl("a"));
    EXPECT_FALSE(faults.awaitsControl("b"));

    const BuildOrder root = {SourceRole::Candidate, "root", {}};
    faults.order(root, "first");
    ASSERT_TRUE(faults.control());
    EXPECT_NE(faults.control()->key(), root.key()) << "no cache may answer";
    EXPECT_TRUE(faults.isControl(faults.control()->key()));
    const auto blamed = faults.end();
    ASSERT_EQ(blamed.size(), 1U);
    EXPECT_EQ(blamed.at("a").reason, "cicc died again");
    EXPECT_FALSE(faults.control());
    EXPECT_EQ(faults.after("a", ours("x")), BuildFaults::Next::Again) << "on another run it is new";
}

TEST(BuildFaults, AVerdictForgetsWhatWasBefore)
{
    BuildFaults faults;
    faults.after("a", ours("out of memory"));
    faults.settled("a");
    EXPECT_EQ(faults.after("a", ours("out of memory")), BuildFaults::Next::Again);
}

TEST(BuildFaults, WhoIsConvictedIsNotBuiltAgainUntilItHasAVerdict)
{
    BuildFaults faults;
    EXPECT_FALSE(faults.convicted("a"));
    faults.convict("a");
    EXPECT_TRUE(faults.convicted("a"));
    EXPECT_FALSE(faults.convicted("b"));
    faults.settled("a");
    EXPECT_FALSE(faults.convicted("a"));
}

TEST(JudgeLosses, AreKeptAsTextUntilTheCandidateHasEnded)
{
    JudgeLosses losses = JudgeLosses::parse("");
    losses.lost(NodeId{7}, "killed");
    EXPECT_FALSE(losses.atLimit(NodeId{7}));
    losses.lost(NodeId{8}, "hung");
    JudgeLosses kept = JudgeLosses::parse(losses.text());
    kept.lost(NodeId{7}, "killed again");
    EXPECT_TRUE(kept.atLimit(NodeId{7}));
    EXPECT_FALSE(kept.atLimit(NodeId{8}));
    EXPECT_EQ(kept.why(NodeId{7}), "killed again");
    EXPECT_TRUE(kept.settled(NodeId{7}));
    EXPECT_FALSE(kept.settled(NodeId{7}));
    EXPECT_FALSE(kept.atLimit(NodeId{7}));
    EXPECT_FALSE(JudgeLosses::parse("not JSON").atLimit(NodeId{7}));
}

TEST(JudgeFaults, ThreeInARowWantAControl)
{
    JudgeFaults faults;
    Evaluation passed;
    passed.outcome = Outcome::Passed;
    EXPECT_FALSE(faults.after(ours("x")));
    EXPECT_FALSE(faults.after(ours("x")));
    EXPECT_FALSE(faults.after(passed));
    EXPECT_FALSE(faults.after(ours("x")));
    EXPECT_FALSE(faults.after(ours("x")));
    EXPECT_TRUE(faults.after(ours("the last")));
    faults.start(RequestId{7});
    EXPECT_TRUE(faults.isControl(RequestId{7}));
    EXPECT_EQ(faults.end(&passed), "");
    EXPECT_FALSE(faults.controlling());
    EXPECT_FALSE(faults.after(ours("x"))) << "it begins anew";

    JudgeFaults machine;
    machine.after(ours("x"));
    machine.after(ours("x"));
    machine.after(ours("the GPU is gone"));
    machine.start(RequestId{8});
    const Evaluation control = ours("no");
    EXPECT_EQ(machine.end(&control), "the GPU is gone");
}

} // namespace
} // namespace espalier
