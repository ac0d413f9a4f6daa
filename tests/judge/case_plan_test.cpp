// SPDX-License-Identifier: Apache-2.0
#include "core/judge/case_plan.h"
#include "core/judge/oracle_comparison.h"

#include "core/model/task_loader.h"

#include <bit>
#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

constexpr const char* taskText = R"({
  "schema": 1, "id": "scale", "title": "Scale", "parameters": ["rows", "cols"],
  "arguments": [
    {"name": "x", "kind": "input", "dtype": "f32", "shape": ["rows", "cols"], "values": {"distribution": "uniform", "low": -2, "high": 3}},
    {"name": "y", "kind": "output", "dtype": "f16", "shape": ["rows", "cols"]},
    {"name": "rows", "kind": "scalar", "dtype": "i32", "value": "rows"},
    {"name": "alpha", "kind": "scalar", "dtype": "f32", "value": "1 / 4"},
    {"name": "total", "kind": "scalar", "dtype": "i64", "value": "rows * cols"}
  ],
  "oracle": {"kind": "cuda"},
  "cases": [{"name": "c", "parameters": {"rows": 3, "cols": 5}, "roles": ["verify", "time"]}],
  "contract": {"precision": "f16"}, "flops": "rows * cols", "reduction_length": "cols"
})";

TEST(CasePlan, WorksOutACase)
{
    const auto task = parseTask(taskText);
    ASSERT_TRUE(task) << task.error().message;
    const auto plan = planCase(*task, task->cases[0]);
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_EQ(plan->arguments.size(), 5U);
    EXPECT_EQ(plan->arguments[0].elements, 15U);
    EXPECT_EQ(plan->arguments[0].bytes, 60U);
    EXPECT_EQ(plan->arguments[0].fill.distribution, ops::Distribution::Uniform);
    EXPECT_EQ(plan->arguments[0].fill.a, -2);
    EXPECT_EQ(plan->arguments[1].bytes, 30U);
    EXPECT_EQ(plan->bytesPerSet(), 90U);
    EXPECT_EQ(plan->minimumBytes, 90U);
    EXPECT_EQ(plan->flops, 15);
    EXPECT_EQ(plan->arguments[2].scalar.kind, runner::ValueKind::I32);
    EXPECT_EQ(plan->arguments[2].scalar.bits, 3U);
    EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(plan->arguments[3].scalar.bits)), 0.25F);
    EXPECT_EQ(plan->arguments[4].scalar.bits, 15U);
    EXPECT_GT(plan->normBounds[1], 0);
    EXPECT_EQ(plan->normBounds[0], 0);
}

TEST(CasePlan, NamesElementsAsPeopleDo)
{
    const auto task = parseTask(taskText);
    ASSERT_TRUE(task);
    const auto plan = planCase(*task, task->cases[0]);
    ASSERT_TRUE(plan);
    EXPECT_EQ(elementName(plan->arguments[1], 7), "y[1][2]");
    EXPECT_EQ(elementName(plan->arguments[1], 0), "y[0][0]");
}

/// What a relu leaves of a convolution whose bias is far below zero: few and small outputs, with the error of the sums
/// that they come from.
TEST(OutputTally, TheNormIsOfTheReferenceOrOfWhatRandomSignsWouldLeave)
{
    OutputTally tally;
    tally.squaredError = 4e-6;
    tally.squaredReference = 1;
    tally.squaredScale = 400;
    EXPECT_DOUBLE_EQ(tally.normError(0), 2e-3) << "no length is said: the reference alone";
    EXPECT_DOUBLE_EQ(tally.normError(100), 1e-3) << "400 over 100 is more than the reference's 1";
    EXPECT_DOUBLE_EQ(tally.normError(10000), 2e-3) << "the reference is what there is";
    tally.squaredReference = tally.squaredScale = 0;
    EXPECT_DOUBLE_EQ(tally.normError(100), 2e-3) << "absolute where everything is zero";
}

} // namespace
} // namespace espalier::judge
