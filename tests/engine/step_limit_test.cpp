// SPDX-License-Identifier: Apache-2.0
#include "core/engine/step_limit.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(StepLimit, WithoutAStepTheRoomOfTheBudgetIsAllowed)
{
    StepLimit limit;
    EXPECT_FALSE(limit.isOn());
    EXPECT_FALSE(limit.isSpent());
    EXPECT_EQ(limit.allowed(33, 27), 33);
    EXPECT_EQ(limit.expansions(), std::nullopt);
}

TEST(StepLimit, AStepIsOneEvaluationOfWhatWaitsOrOfOneExpansion)
{
    StepLimit fresh = StepLimit::step(27, false);
    EXPECT_TRUE(fresh.isOn());
    EXPECT_FALSE(fresh.isSpent());
    EXPECT_EQ(fresh.allowed(33, 27), 1);
    --*fresh.expansions();
    EXPECT_TRUE(fresh.isSpent());
    EXPECT_EQ(fresh.allowed(33, 27), 1) << "it is decided, and about to be judged";
    EXPECT_EQ(fresh.allowed(32, 28), 0) << "it was judged";

    const StepLimit waiting = StepLimit::step(27, true);
    EXPECT_TRUE(waiting.isSpent()) << "nothing new is thought of while something waits";
    EXPECT_EQ(waiting.allowed(33, 27), 1);
    EXPECT_EQ(waiting.allowed(0, 27), 0) << "the budget holds for steps too";
}

TEST(StepLimit, NothingIsNothing)
{
    const StepLimit nothing = StepLimit::nothing();
    EXPECT_TRUE(nothing.isOn());
    EXPECT_TRUE(nothing.isSpent());
    EXPECT_LE(nothing.allowed(33, 27), 0);
}

} // namespace
} // namespace espalier
