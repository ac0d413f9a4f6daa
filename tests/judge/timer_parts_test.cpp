// SPDX-License-Identifier: Apache-2.0
// What a timing is held to once it is measured.
#include "core/judge/timer.h"

#include <cmath>
#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

TEST(Memo, OnlyAClearGainOnRepeatedInputsIsNamed)
{
    EXPECT_FALSE(memoComplaint({}));
    EXPECT_FALSE(memoComplaint({8}));             // one pair says nothing
    EXPECT_FALSE(memoComplaint({1.22, 0.98, 1})); // the largest that was seen of honest kernels
    EXPECT_FALSE(memoComplaint({8, 1, 1.1, 0.9, 1}));
    const auto complaint = memoComplaint({3, 2.8, 3.1, 0.9, 3});
    ASSERT_TRUE(complaint);
    EXPECT_NE(complaint->find("1/3.00 of the time"), std::string::npos) << *complaint;
}

CaseTiming timingOf(const std::string& id, double time, double speedupRoot = 1)
{
    CaseTiming timing;
    timing.caseId = id;
    timing.timeUs = {time, time * 0.99, time * 1.01};
    timing.speedupRoot = Interval{speedupRoot, speedupRoot * 0.99, speedupRoot * 1.01};
    return timing;
}

TEST(Review, OpensNearThePeakAndFarBeyondAVendor)
{
    CaseTiming timing = timingOf("a", 100);
    timing.goalFloorUs = 94;
    timing.speedupBaselines = {{"cublas", {2.5, 1.9, 3.1}}, {"textbook", {9, 8, 10}}};
    EXPECT_TRUE(reviewOf(timing, {"cublas"}, true).empty());
    timing.goalFloorUs = 97;
    timing.speedupBaselines["cublas"] = {2.5, 2.1, 2.9};
    const std::vector<Evidence> review = reviewOf(timing, {"cublas"}, true);
    ASSERT_EQ(review.size(), 2U);
    EXPECT_EQ(review[0].check, "review");
    EXPECT_NE(review[0].sentence.find("97 % of the peak"), std::string::npos) << review[0].sentence;
    EXPECT_NE(review[1].sentence.find("2.50 times as fast as the vendor's library (cublas)"), std::string::npos);
    EXPECT_EQ(reviewOf(timing, {"cublas"}, false).size(), 1U); // a warm cache may be faster than DRAM
    EXPECT_EQ(reviewOf(timing, {}, true).size(), 1U);
}

std::vector<CasePlan> plansWith(double first, double second)
{
    std::vector<CasePlan> plans(2);
    plans[0].id = "a";
    plans[0].weight = first;
    plans[1].id = "b";
    plans[1].weight = second;
    return plans;
}

TEST(Objective, WeighsItsCases)
{
    Task task;
    TimingRecord record;
    record.cases = {timingOf("a", 10, 2), timingOf("b", 80, 4)};
    task.objective.geometricMean = true;
    completeObjective(task, plansWith(1, 2), record);
    EXPECT_NEAR(record.objectiveUs->value, 40, 1e-9);
    EXPECT_NEAR(record.speedupRoot->value, std::cbrt(2.0 * 4 * 4), 1e-9);
    task.objective.geometricMean = false;
    completeObjective(task, plansWith(3, 1), record);
    EXPECT_NEAR(record.objectiveUs->value, 27.5, 1e-9);
    EXPECT_TRUE(record.guardBroken.empty());
}

TEST(Objective, EveryCaseIsHeldToItsGuard)
{
    Task task;
    task.objective.guard = 1.1;
    TimingRecord record;
    record.cases = {timingOf("a", 10, 4), timingOf("b", 80, 0.95)};
    completeObjective(task, plansWith(1, 1), record);
    EXPECT_TRUE(record.guardBroken.empty()) << record.guardBroken;
    record.cases[1] = timingOf("b", 80, 0.5); // four times as fast on the other case does not make up for it
    completeObjective(task, plansWith(1, 1), record);
    EXPECT_EQ(record.guardBroken, "case b takes ≈2 times as long as the root; the objective allows 1.1");
    EXPECT_GT(record.speedupRoot->value, 1);
}

TEST(Objective, WhatTheGuardComparedWithIsTold)
{
    Task task;
    TimingRecord record;
    record.cases = {timingOf("a", 10, 4), timingOf("b", 80, 2)};
    record.cases[1].speedupRoot.reset();
    EXPECT_TRUE(completeObjective(task, plansWith(1, 1), record).empty()) << "there is no guard";
    task.objective.guard = 1.1;
    const auto told = completeObjective(task, plansWith(1, 1), record);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_NE(told[0].sentence.find("compares with the root in case a:"), std::string::npos) << told[0].sentence;
    EXPECT_NE(told[1].sentence.find("not looked at in case b:"), std::string::npos) << told[1].sentence;
    for (CaseTiming& timing : record.cases) {
        timing.speedupIncumbent = Interval{2, 2, 2};
    }
    EXPECT_TRUE(completeObjective(task, plansWith(1, 1), record).empty()) << "every case was held to the incumbent";
}

} // namespace
} // namespace espalier::judge
