// SPDX-License-Identifier: Apache-2.0
#include "core/model/node_text.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(NodeText, AnOverturnedVerdictReadsAsThePersonsWithTheJudgesBesideIt)
{
    NodeSummary node;
    node.outcome = Outcome::Passed;
    node.reason = "verified; its time is modelled";
    EXPECT_EQ(verdictText(node), "passed: verified; its time is modelled");
    node.outcome = Outcome::Incorrect;
    node.overturned = Overturn{Outcome::Incorrect, "Wrong for my data", "ada", "2026-11-30T08:00:00Z", Outcome::Passed};
    EXPECT_EQ(verdictText(node),
              "incorrect by hand: Wrong for my data (the judge: passed: verified; its time is modelled)");
    EXPECT_EQ(outcomeText(node), "incorrect by hand");
    EXPECT_EQ(overturnJson(node.overturned)["judged"], "passed");
    node.reason.clear();
    EXPECT_EQ(reasonText(node), "Wrong for my data (the judge: passed)");
}

TEST(NodeText, WhatDidNotRunNamesItsCause)
{
    NodeSummary node;
    node.outcome = Outcome::NotRun;
    node.cause = NotRunCause::NoSource;
    EXPECT_EQ(verdictText(node), "not_run (no_source)");
    EXPECT_TRUE(overturnJson(node.overturned).is_null());
}

TEST(NodeText, AModelledFigureHasASignAndNoInterval)
{
    EXPECT_EQ(speedupText({2.588, 2.588, 2.588}, Provenance::Model), "≈2.59x");
    EXPECT_EQ(speedupText({2.588, 2.5, 2.7}, Provenance::Measured), "2.59x [2.50, 2.70]");
    EXPECT_EQ(timeText(12.5, Provenance::Model), "≈12.5 us");
    EXPECT_EQ(marked("16 sectors where 4 would do (30 % of FP16 in L2)", Provenance::Model),
              "≈16 sectors where ≈4 would do (≈30 % of FP16 in L2)");
    EXPECT_EQ(marked("16 sectors where 4 would do", Provenance::Measured), "16 sectors where 4 would do");
}

} // namespace
} // namespace espalier
