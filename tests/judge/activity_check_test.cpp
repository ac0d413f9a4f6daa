// SPDX-License-Identifier: Apache-2.0
#include "core/judge/activity_check.h"

#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

Json callSeen(double eventUs, double spanUs, int kernels = 1, int elsewhere = 0)
{
    return {{"event_us", eventUs}, {"host_us", 500},        {"span_us", spanUs}, {"kernel_us", spanUs},
            {"kernels", kernels},  {"copies", 0},           {"memsets", 0},      {"elsewhere", elsewhere},
            {"beyond", 0},         {"works", Json::array()}};
}

Json activityOf(std::vector<Json> calls)
{
    return {{"calls", std::move(calls)}, {"dropped", 0}};
}

/// As an H200 told it: a copy of 134 us, whose events read 153 to 168 us under tracing.
TEST(ReadActivity, EventsThatReadMoreThanTheSpanAreHonest)
{
    const auto seen =
        readActivity(activityOf({callSeen(167.7, 133.9), callSeen(153.0, 133.8), callSeen(155.1, 135.4)}), "a", 131);
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_FALSE(seen->outside) << *seen->outside;
    EXPECT_TRUE(seen->remarks.empty());
    EXPECT_DOUBLE_EQ(seen->facts.spanUs, 133.9);
    EXPECT_DOUBLE_EQ(seen->facts.eventUs, 155.1);
    EXPECT_EQ(seen->facts.calls, 3);
    EXPECT_DOUBLE_EQ(seen->facts.timedUs, 131);
}

/// Likewise: a short kernel on the stream, 377 us on another that nobody joins.
TEST(ReadActivity, WorkThatTheEventsDoNotCoverIsNamed)
{
    const auto seen = readActivity(
        activityOf({callSeen(36.2, 387.1, 2, 1), callSeen(21.0, 385.0, 2, 1), callSeen(50.5, 406.1, 2, 1)}), "a", 22);
    ASSERT_TRUE(seen);
    ASSERT_TRUE(seen->outside);
    EXPECT_NE(
        seen->outside->find(
            "takes 387.1 us from first start to last end in case a, the events round the call say 36.2 us; 1 of 2 "
            "works are on other streams"),
        std::string::npos)
        << *seen->outside;
}

TEST(ReadActivity, OtherStreamsThatAreJoinedAreHonest)
{
    const auto seen = readActivity(activityOf({callSeen(120, 115, 3, 2), callSeen(121, 116, 3, 2)}), "a", 118);
    ASSERT_TRUE(seen);
    EXPECT_FALSE(seen->outside);
    EXPECT_EQ(seen->facts.elsewhere, 2);
}

TEST(ReadActivity, OneOddClockStampAccusesNobody)
{
    const auto seen = readActivity(activityOf({callSeen(100, 300), callSeen(100, 95), callSeen(100, 96)}), "a", 95);
    ASSERT_TRUE(seen);
    EXPECT_FALSE(seen->outside);
}

TEST(ReadActivity, CountsThatChangeAndTimesThatDifferAreRemarks)
{
    const auto seen = readActivity(activityOf({callSeen(200, 180, 2), callSeen(200, 181, 3)}), "a", 90);
    ASSERT_TRUE(seen);
    EXPECT_FALSE(seen->outside);
    ASSERT_EQ(seen->remarks.size(), 2U);
    EXPECT_NE(seen->remarks[0].find("between 2 and 3 kernels"), std::string::npos);
    EXPECT_NE(seen->remarks[1].find("180.5 us by activity records, 90.0 us as it was timed"), std::string::npos)
        << seen->remarks[1];
    EXPECT_EQ(seen->facts.kernels, 3);
}

TEST(ReadActivity, ACallThatDoesNothingIsSaidToDoSo)
{
    const auto seen = readActivity(activityOf({callSeen(1.3, 0, 0)}), "a", 0);
    ASSERT_TRUE(seen);
    ASSERT_EQ(seen->remarks.size(), 1U);
    EXPECT_NE(seen->remarks[0].find("put anything on the device"), std::string::npos);
}

TEST(ReadActivity, WhatIsNoReportIsNotBelieved)
{
    EXPECT_FALSE(readActivity(Json::object(), "a", 1));
    EXPECT_FALSE(readActivity(activityOf({}), "a", 1));
    Json negative = callSeen(1, 1);
    negative["span_us"] = -5;
    EXPECT_FALSE(readActivity(activityOf({negative}), "a", 1));
    Json text = callSeen(1, 1);
    text["kernels"] = "many";
    EXPECT_FALSE(readActivity(activityOf({text}), "a", 1));
}

} // namespace
} // namespace espalier::judge
