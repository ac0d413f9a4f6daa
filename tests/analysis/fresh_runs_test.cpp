// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/fresh_runs.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace espalier::statistics {
namespace {

/// A machine whose truth is known: every process has an error of its own, every block another, and both sides of a
/// round drift together.
class Machine
{
public:
    Machine(double betweenProcesses, double betweenBlocks, unsigned seed)
        : m_process(0, betweenProcesses), m_block(0, betweenBlocks), m_random(seed)
    {
    }

    struct Sides {
        std::vector<Blocks> rival, candidate;
    };
    Sides measure(double rivalTime, double candidateTime, int processes, int rounds)
    {
        Sides sides;
        for (int p = 0; p < processes; ++p) {
            const double up = rivalTime * std::exp(m_process(m_random));
            const double down = candidateTime * std::exp(m_process(m_random));
            Blocks rival, candidate;
            for (int r = 0; r < rounds; ++r) {
                const double drift = 1 + 0.0005 * r;
                rival.emplace_back(up * drift * std::exp(m_block(m_random)));
                candidate.emplace_back(down * drift * std::exp(m_block(m_random)));
            }
            sides.rival.push_back(std::move(rival));
            sides.candidate.push_back(std::move(candidate));
        }
        return sides;
    }

private:
    std::normal_distribution<double> m_process, m_block;
    std::mt19937_64 m_random;
};

struct Setting {
    double betweenProcesses, betweenBlocks;
    int processes, rounds;
    ProcessNoise noise; ///< what the estimator is told
};

void PrintTo(const Setting& setting, std::ostream* out)
{
    *out << setting.betweenProcesses << " " << setting.betweenBlocks << " " << setting.processes << "x"
         << setting.rounds;
}

class Coverage : public ::testing::TestWithParam<Setting>
{
};

TEST_P(Coverage, TheIntervalCoversTheTruthAndCopiesAreTies)
{
    const Setting& setting = GetParam();
    constexpr int repeats = 500;
    Machine machine(setting.betweenProcesses, setting.betweenBlocks, 11);
    int covered = 0, coveredTime = 0, faster = 0, slower = 0;
    for (int i = 0; i < repeats; ++i) {
        const auto unequal = machine.measure(150, 100, setting.processes, setting.rounds);
        const Interval ratio = speedupOver(unequal.rival, unequal.candidate, setting.noise, 3);
        covered += ratio.low <= 1.5 && 1.5 <= ratio.high;
        const auto copy = machine.measure(100, 100, setting.processes, setting.rounds);
        const Comparison verdict = compare(speedupOver(copy.rival, copy.candidate, setting.noise, 3));
        faster += verdict == Comparison::Faster;
        slower += verdict == Comparison::Slower;
        const Interval time = timeOver(copy.candidate, setting.noise, 3);
        const double truth = 100 * (1 + 0.0005 * (setting.rounds - 1) / 2);
        coveredTime += time.low <= truth && truth <= time.high;
    }
    EXPECT_GE(covered, repeats * 93 / 100);
    EXPECT_GE(coveredTime, repeats * 93 / 100);
    EXPECT_LE(faster, repeats * 3 / 100); // nominal 2.5 %, and the noise of 500 repeats
    EXPECT_LE(slower, repeats * 3 / 100);
}

INSTANTIATE_TEST_SUITE_P(Machines, Coverage,
                         ::testing::Values(Setting{0, 0.01, 3, 10, {}},             // processes do not matter
                                           Setting{0.01, 0.002, 3, 10, {}},         // nothing else matters
                                           Setting{0.02, 0.02, 3, 12, {}},          // both
                                           Setting{0.002, 0.003, 3, 10, {0, 2e-4}}, // as on hardware, 33 us
                                           Setting{0.0002, 0.001, 1, 5, {0, 2e-4}}, // one process: told what others do
                                           Setting{0.01, 0.05, 1, 5, {0, 0.01}}));

/// The same process must not make a result look surer than fresh ones would.
TEST(FreshRuns, MoreBlocksOfOneProcessDoNotHideItsOwnError)
{
    Machine machine(0.02, 0.001, 5);
    const auto few = machine.measure(100, 100, 3, 10);
    const auto many = machine.measure(100, 100, 3, 200);
    const auto half = [](const Machine::Sides& sides) {
        const Interval ratio = speedupOver(sides.rival, sides.candidate, {}, 1);
        return std::log(ratio.high / ratio.low) / 2;
    };
    EXPECT_GT(half(few), 0.004);
    EXPECT_GT(half(many), 0.004);
}

TEST(FreshRuns, KnownFiguresGiveKnownRatios)
{
    const std::vector<Blocks> rival = {{200.0, 220.0, 240.0}, {90.0, 110.0, 100.0}};
    const std::vector<Blocks> candidate = {{100.0, 110.0, 120.0}, {50.0, 50.0, 50.0}};
    EXPECT_NEAR(speedupOver(rival, candidate, {}, 1).value, 2, 1e-12);
    EXPECT_NEAR(timeOver(candidate, {}, 1).value, std::sqrt(110.0 * 50.0), 1e-9);
}

TEST(FreshRuns, EqualBlocksLeaveWhatIsKnownOfProcesses)
{
    const std::vector<Blocks> blocks(3, Blocks(10, 50.0));
    EXPECT_EQ(speedupOver(blocks, blocks, {}, 1), (Interval{1, 1, 1}));
    const Interval noisy = speedupOver(blocks, blocks, {0.5, 0}, 1); // 1 % of 50
    EXPECT_NEAR(std::log(noisy.high), 1.96 * 0.01 * std::sqrt(2.0 / 3), 1e-4);
}

TEST(FreshRuns, PairsWithADroppedMemberDoNotCount)
{
    const std::vector<Blocks> rival = {{200.0, 200.0, std::nullopt, 200.0}};
    const std::vector<Blocks> candidate = {{100.0, std::nullopt, 1.0, 100.0}};
    EXPECT_NEAR(speedupOver(rival, candidate, {}, 1).value, 2, 1e-12);
    const std::vector<Blocks> nothing = {{std::nullopt}};
    const Interval none = speedupOver(nothing, nothing, {}, 1);
    EXPECT_EQ(none.value, 0);
    EXPECT_TRUE(std::isinf(none.high));
    const std::vector<Blocks> once = {{2.0}};
    EXPECT_EQ(timeOver(once, {}, 1).low, 0);
    EXPECT_TRUE(std::isinf(timeOver(once, {}, 1).high)); // one block has no interval
}

TEST(FreshRuns, TheTieBandIsTheWiderOfIntervalAndOnePercent)
{
    EXPECT_EQ(compare({1.009, 1.008, 1.010}), Comparison::Tie); // exact, but not worth a change
    EXPECT_EQ(compare({1.05, 0.99, 1.11}), Comparison::Tie);
    EXPECT_EQ(compare({1.05, 1.01, 1.09}), Comparison::Faster);
    EXPECT_EQ(compare({0.95, 0.90, 0.99}), Comparison::Slower);
    EXPECT_EQ(compare({0.995, 0.994, 0.996}), Comparison::Tie);
    EXPECT_EQ(compare({1.009, 1.009, 1.009}, 0), Comparison::Faster);
    EXPECT_EQ(compare({0, 0, std::numeric_limits<double>::infinity()}), Comparison::Tie);
    EXPECT_EQ(compare({std::nan(""), 2, 3}), Comparison::Tie);
}

TEST(FreshRuns, ErrorsOfAQuotientAddInQuadrature)
{
    const Interval both = quotient({2, 2 / std::exp(0.03), 2 * std::exp(0.03)}, {1, std::exp(-0.04), std::exp(0.04)});
    EXPECT_NEAR(both.value, 2, 1e-12);
    EXPECT_NEAR(std::log(both.high / 2), 0.05, 1e-12);
    EXPECT_NEAR(std::log(2 / both.low), 0.05, 1e-12);
    EXPECT_EQ(compare(quotient({2, 1.9, 2.1}, {0, 0, 0})), Comparison::Tie);
}

TEST(FreshRuns, StudentsQuantiles)
{
    EXPECT_NEAR(studentQuantile(2), 4.303, 0.001);
    EXPECT_NEAR(studentQuantile(4), 2.776, 0.001);
    EXPECT_NEAR(studentQuantile(7), 2.365, 0.012);
    EXPECT_NEAR(studentQuantile(30), 2.042, 0.01);
    EXPECT_NEAR(studentQuantile(1e9), 1.960, 0.001);
    EXPECT_NEAR(studentQuantile(0.5), 12.706, 0.001);
}

} // namespace
} // namespace espalier::statistics
