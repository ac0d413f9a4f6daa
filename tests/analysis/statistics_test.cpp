// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/statistics.h"
#include "core/analysis/stopping_criterion.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace espalier::statistics {
namespace {

TEST(Statistics, MediansAndQuantiles)
{
    EXPECT_EQ(median({}), 0);
    EXPECT_EQ(median(std::vector{3.0, 1.0, 2.0}), 2);
    EXPECT_EQ(median(std::vector{4.0, 1.0, 2.0, 3.0}), 2.5);
    EXPECT_EQ(quantile(std::vector{1.0, 2.0, 3.0, 4.0, 5.0}, 0.25), 2);
    EXPECT_EQ(quantile(std::vector{5.0}, 0.975), 5);
}

TEST(Statistics, OneBlockHasNoInterval)
{
    const Interval interval = medianInterval(std::vector{7.0}, 1);
    EXPECT_EQ(interval.value, 7);
    EXPECT_EQ(relativeHalfWidth(interval), std::numeric_limits<double>::infinity());
}

TEST(Statistics, EqualBlocksHaveAnIntervalOfWidthZero)
{
    const std::vector<double> blocks(30, 2.5);
    const Interval interval = medianInterval(blocks, 1);
    EXPECT_EQ(interval, (Interval{2.5, 2.5, 2.5}));
    EXPECT_EQ(ratioOfMedians(blocks, blocks, 1), (Interval{1, 1, 1}));
}

TEST(Statistics, IntervalsAreDeterministic)
{
    const std::vector<double> blocks = {1, 2, 3, 4, 5, 6, 7};
    EXPECT_EQ(medianInterval(blocks, 9), medianInterval(blocks, 9));
}

/// The interval must cover the true ratio about as often as it says, or the stopping rule stops on luck.
TEST(Statistics, TheIntervalOfTheRatioCoversTheTruth)
{
    std::mt19937_64 random(5);
    std::normal_distribution<double> noise(0, 0.01);
    int covered = 0;
    constexpr int trials = 200;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> rival, candidate;
        for (int block = 0; block < 30; ++block) {
            rival.push_back(150 * (1 + noise(random)));
            candidate.push_back(100 * (1 + noise(random)));
        }
        const Interval ratio = ratioOfMedians(rival, candidate, 3);
        covered += ratio.low <= 1.5 && 1.5 <= ratio.high;
    }
    EXPECT_GE(covered, trials * 85 / 100);
    EXPECT_LT(covered, trials);
}

/// Drift that hits both members of a pair must not widen the interval of their ratio.
TEST(Statistics, PairsCancelDrift)
{
    std::vector<double> rival, candidate;
    for (int block = 0; block < 30; ++block) {
        const double drift = 1 + 0.01 * block;
        rival.push_back(200 * drift);
        candidate.push_back(100 * drift);
    }
    EXPECT_LT(relativeHalfWidth(ratioOfMedians(rival, candidate, 1)), 1e-9);
    EXPECT_GT(relativeHalfWidth(medianInterval(candidate, 1)), 0.02);
}

TEST(Statistics, NothingMeasuredIsNoRatio)
{
    const Interval none = ratioOfMedians(std::vector<double>{}, std::vector<double>{}, 1);
    EXPECT_EQ(none.value, 0);
    EXPECT_TRUE(std::isinf(none.high));
}

TEST(Statistics, GeometricMeanWeighsAndSkips)
{
    const std::vector<Weighted> parts = {{{1, 1, 1}, 1}, {{4, 4, 4}, 1}, {{100, 1, 1000}, 0}};
    const auto mean = geometricMean(parts);
    ASSERT_TRUE(mean);
    EXPECT_NEAR(mean->value, 2, 1e-12);
    EXPECT_NEAR(mean->low, 2, 1e-12);
    EXPECT_FALSE(geometricMean(std::vector<Weighted>{}));
    EXPECT_FALSE(geometricMean(std::vector<Weighted>{{{0, 0, 0}, 1}})); // a time of zero must not carry a mean
}

TEST(Statistics, ArithmeticMeanWeighs)
{
    const std::vector<Weighted> parts = {{{1, 1, 1}, 3}, {{5, 5, 5}, 1}};
    EXPECT_NEAR(arithmeticMean(parts)->value, 2, 1e-12);
}

TEST(StoppingCriterion, StopsOnTheIntervalOnlyWithEnoughBlocks)
{
    const StoppingCriterion criterion{30, 1000, 0.005, 10};
    using Decision = StoppingCriterion::Decision;
    EXPECT_EQ(criterion.decide(29, 0.001, 1), Decision::Continue);
    EXPECT_EQ(criterion.decide(30, 0.005, 1), Decision::Interval);
    EXPECT_EQ(criterion.decide(30, 0.006, 1), Decision::Continue);
    EXPECT_EQ(criterion.decide(30, std::nan(""), 1), Decision::Continue);
    EXPECT_EQ(criterion.decide(30, 0.006, 10), Decision::Budget);
    EXPECT_EQ(criterion.decide(2, 0.006, 100), Decision::Continue);
    EXPECT_EQ(criterion.decide(1000, 0.1, 1), Decision::Budget);
    const StoppingCriterion ofThreeProcesses{30, 1000, 0.005, 10, 12};
    EXPECT_EQ(ofThreeProcesses.decide(11, 0.006, 100), Decision::Continue);
    EXPECT_EQ(ofThreeProcesses.decide(12, 0.006, 100), Decision::Budget);
}

} // namespace
} // namespace espalier::statistics
