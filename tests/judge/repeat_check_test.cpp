// SPDX-License-Identifier: Apache-2.0
#include "core/judge/repeat_check.h"

#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

CasePlan planOf(std::uint64_t elements, double flops)
{
    CasePlan plan;
    plan.flops = flops;
    ArgumentPlan output;
    output.kind = ArgumentKind::Output;
    output.elements = elements;
    output.bytes = elements * 4;
    plan.arguments.push_back(output);
    return plan;
}

TEST(RepeatCheck, ChoosesTheLargestThatFitsOrTheCheapestToSimulate)
{
    const std::vector<CasePlan> plans = {planOf(1, 1), planOf(1000, 5e6), planOf(5000, 1e3), planOf(50000000, 1e9)};
    EXPECT_EQ(RepeatCheck::choose(plans, false), 2U);
    EXPECT_EQ(RepeatCheck::choose(plans, true), 2U);
    EXPECT_EQ(RepeatCheck::choose({planOf(1000, 5e6), planOf(900, 10)}, false), 0U);
    EXPECT_EQ(RepeatCheck::choose({planOf(1000, 5e6), planOf(900, 10)}, true), 1U);
    EXPECT_EQ(RepeatCheck::choose({planOf(1, 1)}, true), 1U); // none
}

} // namespace
} // namespace espalier::judge
