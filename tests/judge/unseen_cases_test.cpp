// SPDX-License-Identifier: Apache-2.0
#include "core/judge/unseen_cases.h"

#include "core/model/task_loader.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace espalier::judge {
namespace {

std::string textOf(const std::string& more, const std::string& contract = "")
{
    return R"({
  "schema": 1, "id": "product", "title": "Product", "parameters": ["m", "n", "k"],
  "arguments": [
    {"name": "a", "kind": "input", "dtype": "f32", "shape": ["m", "k"]},
    {"name": "b", "kind": "input", "dtype": "f32", "shape": ["k", "n"], "stress": false},
    {"name": "c", "kind": "output", "dtype": "f32", "shape": ["m", "n"]}
  ],
  "oracle": {"kind": "cuda"},
  "cases": [
    {"name": "timed", "parameters": {"m": 512, "n": 384, "k": 96}, "roles": ["time"]},
    {"name": "small", "parameters": {"m": 33, "n": 65, "k": 64}, "roles": ["verify"]}
  ],
  "contract": {"precision": "f32")" +
           contract + R"(}, "flops": "2*m*n*k", "reduction_length": "k")" + more + "}";
}

struct DrawnCases {
    Task task;
    std::vector<CasePlan> own;
    std::vector<CasePlan> unseen(std::uint64_t seed, Tier tier = Tier::Quick) const
    {
        std::mt19937_64 random(seed);
        return unseenCases(task, task.casesWith(CaseRole::Time), own, tier, random);
    }
};

DrawnCases drawnFrom(const std::string& text)
{
    auto task = parseTask(text);
    EXPECT_TRUE(task) << task.error().message;
    DrawnCases drawn{std::move(*task), {}};
    for (const TaskCase* one : drawn.task.casesWith(CaseRole::Verify)) {
        drawn.own.push_back(planCase(drawn.task, *one).value());
    }
    return drawn;
}

std::int64_t extent(const CasePlan& plan, std::size_t argument, std::size_t dimension)
{
    return plan.arguments[argument].shape[dimension];
}

TEST(UnseenCases, TurnedCasesKeepTheirPlacesAndChangeTheirShape)
{
    const DrawnCases rows = drawnFrom(R"({
  "schema": 1, "id": "rows", "title": "Rows", "parameters": ["rows", "cols"],
  "arguments": [
    {"name": "x", "kind": "input", "dtype": "f32", "shape": ["rows", "cols"]},
    {"name": "w", "kind": "input", "dtype": "f32", "shape": ["cols"]},
    {"name": "y", "kind": "output", "dtype": "f32", "shape": ["rows", "cols"]}
  ],
  "oracle": {"kind": "cuda"},
  "cases": [
    {"name": "large", "parameters": {"rows": 64, "cols": 512}, "roles": ["verify", "time"]},
    {"name": "square", "parameters": {"rows": 4, "cols": 4}, "roles": ["verify"]},
    {"name": "small", "parameters": {"rows": 3, "cols": 70}, "roles": ["verify"]}
  ],
  "contract": {"precision": "f32"}, "flops": "rows*cols"})");
    const auto turned = turnedCases(rows.task, rows.task.casesWith(CaseRole::Verify));
    ASSERT_EQ(turned.size(), 2U);
    EXPECT_EQ(turned[0].id, "same places (cols 70, rows 3)"); // the cheapest whose shape changes
    EXPECT_EQ(turned[1].id, "same places (cols 3, rows 70)");
    EXPECT_EQ(extent(turned[1], 0, 0), 70);
    // A product has no two sizes that can be exchanged so.
    const DrawnCases product = drawnFrom(textOf(""));
    EXPECT_TRUE(turnedCases(product.task, product.task.casesWith(CaseRole::Verify)).empty());
}

TEST(UnseenCases, CostNoMoreThanTheTasksOwn)
{
    const DrawnCases drawn = drawnFrom(textOf(""));
    double own = 0;
    for (const CasePlan& plan : drawn.own) {
        own += costOf(plan);
    }
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        double cost = 0;
        for (const CasePlan& plan : drawn.unseen(seed)) {
            cost += costOf(plan);
        }
        EXPECT_LE(cost, own);
        EXPECT_GT(cost, own / 5);
    }
}

TEST(UnseenCases, AreOtherShapesForEveryCandidate)
{
    const DrawnCases drawn = drawnFrom(textOf(""));
    std::set<std::string> shapes;
    std::set<std::int64_t> lengths;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const auto plans = drawn.unseen(seed);
        EXPECT_GE(plans.size(), 4U);
        std::string all;
        for (const CasePlan& plan : plans) {
            all += plan.id + ";";
            lengths.insert(extent(plan, 0, 1));
            EXPECT_TRUE(plan.churn);
        }
        shapes.insert(all);
    }
    EXPECT_EQ(shapes.size(), 100U);
    for (const std::int64_t expected : {1, 95, 97, 89}) {
        EXPECT_TRUE(lengths.contains(expected)) << expected;
    }
}

TEST(UnseenCases, KeepToWhatTheTaskAllows)
{
    const DrawnCases drawn =
        drawnFrom(textOf(R"(, "unseen": {"m": "fixed", "n": {"multiple_of": 8, "min": 16}, "k": {"max": 40}})"));
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (const CasePlan& plan : drawn.unseen(seed, Tier::Full)) {
            EXPECT_EQ(extent(plan, 0, 0), 512);
            EXPECT_EQ(extent(plan, 1, 1) % 8, 0);
            EXPECT_GE(extent(plan, 1, 1), 16);
            EXPECT_LE(extent(plan, 0, 1), 40);
        }
    }
    EXPECT_TRUE(drawnFrom(textOf(R"(, "unseen": false)")).unseen(1).empty());
}

TEST(UnseenCases, GivePropertiesToArgumentsOfUnitScaleOnly)
{
    const DrawnCases drawn = drawnFrom(textOf(""));
    std::map<ops::Distribution, int> seen;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        for (const CasePlan& plan : drawn.unseen(seed)) {
            ++seen[plan.arguments[0].fill.distribution];
            EXPECT_EQ(plan.arguments[1].fill.distribution, ops::Distribution::Normal); // stress: false
            EXPECT_EQ(plan.arguments[1].fill.b, 1);
            const bool own =
                plan.arguments[0].fill.distribution == ops::Distribution::Normal && plan.arguments[0].fill.b == 1;
            EXPECT_EQ(plan.normBounds[2] > 0, own) << plan.id;
        }
    }
    EXPECT_GT(seen[ops::Distribution::Mixed], 600); // two of five, and some
    EXPECT_GT(seen[ops::Distribution::Normal], 250);
    for (const auto distribution :
         {ops::Distribution::Sparse, ops::Distribution::Ties, ops::Distribution::ConstantRows,
          ops::Distribution::Outlier, ops::Distribution::Subnormal, ops::Distribution::HalfNormal,
          ops::Distribution::Alternating, ops::Distribution::Sorted, ops::Distribution::HeavyTail}) {
        EXPECT_GT(seen[distribution], 5) << static_cast<int>(distribution);
    }
}

TEST(UnseenCases, WholeInputsLeaveNothingToRound)
{
    const DrawnCases drawn = drawnFrom(textOf("", R"(, "internal": ["f32", "bf16"], "exact_integers": {"degree": 2})"));
    int exact = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        for (const CasePlan& plan : drawn.unseen(seed)) {
            if (!plan.exact) {
                continue;
            }
            ++exact;
            EXPECT_EQ(plan.elementFactor, 0);
            EXPECT_EQ(plan.normBounds[2], 0);
            double largestSum = static_cast<double>(extent(plan, 0, 1));
            for (const std::size_t input : {0U, 1U}) {
                EXPECT_EQ(plan.arguments[input].fill.distribution, ops::Distribution::Integers);
                EXPECT_LE(plan.arguments[input].fill.b, 256); // exact in bf16
                EXPECT_GE(plan.arguments[input].fill.b, 2);
                largestSum *= plan.arguments[input].fill.b;
            }
            EXPECT_LE(largestSum, std::exp2(20));
        }
    }
    EXPECT_EQ(exact, 50);
}

} // namespace
} // namespace espalier::judge
