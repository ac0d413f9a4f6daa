// SPDX-License-Identifier: Apache-2.0
// Cooperative groups, barriers and copies that report to them, cub, cuda::std: as the toolkit's headers expand them.
#include "tests/device/sim/sim_support.h"

#include "core/device/sim/small_float.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace espalier::sim {
namespace {

/// Whole numbers, so that sums are exact in every order.
std::vector<float> wholeNumbers(std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<float> made(count);
    for (float& v : made)
        v = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
    return made;
}

TEST(Groups, CollectivesOfTilesAndCoalescedThreads)
{
    constexpr std::size_t n = 64, count = 8;
    std::vector<float> x = wholeNumbers(n, 1), y(n * count);
    const LaunchResult result =
        shared("headers").run("groups", {1, 1, 1}, {n, 1, 1}, 0, shared("headers").buffer(x, "x"),
                              shared("headers").buffer(y, "y"), static_cast<int>(n));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t warp = i / 32 * 32, quad = i / 4 * 4;
        const auto sumWhere = [&](auto holds) {
            float sum = 0;
            for (std::size_t j = warp; j < warp + 32; ++j)
                sum += holds(j) ? x[j] : 0;
            return sum;
        };
        const auto at = [&](std::size_t from) { return x.begin() + static_cast<std::ptrdiff_t>(from); };
        const float odd =
            sumWhere([](std::size_t j) { return j % 2 == 1; }) + 1000 * static_cast<float>((i - warp) / 2);
        const float wanted[count] = {std::accumulate(at(warp), at(warp + 32), 0.0f),
                                     *std::max_element(at(quad), at(quad + 4)),
                                     std::accumulate(at(warp), at(i + 1), 0.0f),
                                     i % 4 == 3 ? x[i] : x[i + 1],
                                     *std::min_element(at(warp), at(warp + 32)),
                                     sumWhere([&](std::size_t j) { return (j % 3 == 0) == (i % 3 == 0); }),
                                     i % 2 ? odd : 0.0f,
                                     1.0f};
        for (std::size_t k = 0; k < count; ++k)
            EXPECT_EQ(y[k * n + i], wanted[k]) << "value " << k << ", thread " << i;
    }
}

TEST(Groups, CopiesArriveWhenTheyAreWaitedFor)
{
    constexpr std::size_t n = 128;
    std::vector<float> x = wholeNumbers(4 * n, 2), y(4 * n);
    const std::uint64_t px = shared("headers").buffer(x, "x"), py = shared("headers").buffer(y, "y");
    const LaunchResult group =
        shared("headers").run("group_copy", {1, 1, 1}, {n, 1, 1}, n * sizeof(float), px, py, static_cast<int>(n));
    ASSERT_FALSE(group.fault) << group.fault->sentence;
    for (std::size_t i = 0; i < n; ++i)
        EXPECT_EQ(y[i], x[n - 1 - i]);

    const LaunchResult pipeline = shared("headers").run("block_pipeline", {1, 1, 1}, {n, 1, 1}, 2 * n * sizeof(float),
                                                        px, py, static_cast<int>(n));
    ASSERT_FALSE(pipeline.fault) << pipeline.fault->sentence;
    for (std::size_t i = 0; i < n; ++i) {
        float wanted = 0;
        for (std::size_t stage = 0; stage < 4; ++stage)
            wanted += static_cast<float>(stage + 1) * x[stage * n + n - 1 - i];
        EXPECT_EQ(y[i], wanted) << i;
    }

    const LaunchResult barrier = shared("headers").run("block_barrier", {1, 1, 1}, {n, 1, 1}, n * sizeof(float), px, py,
                                                       static_cast<int>(n), true);
    ASSERT_FALSE(barrier.fault) << barrier.fault->sentence;
    for (std::size_t i = 0; i < 3 * n; ++i)
        EXPECT_EQ(y[i], x[i / n * n + n - 1 - i % n]) << i;

    const LaunchResult engine =
        shared("headers").run("bulk", {1, 1, 1}, {n, 1, 1}, n * sizeof(float), px, py, static_cast<int>(n));
    ASSERT_FALSE(engine.fault) << engine.fault->sentence;
    for (std::size_t i = 0; i < 2 * n; ++i)
        EXPECT_EQ(y[i], x[i] + 1) << i;
}

TEST(Groups, AForgottenWaitShows)
{
    constexpr std::size_t n = 128;
    std::vector<float> x = wholeNumbers(3 * n, 3), y(3 * n);
    const LaunchResult result = shared("headers").run("block_barrier", {1, 1, 1}, {n, 1, 1}, n * sizeof(float),
                                                      shared("headers").buffer(x, "x"),
                                                      shared("headers").buffer(y, "y"), static_cast<int>(n), false);
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    EXPECT_TRUE(std::isnan(y[0])); // nothing has come into shared memory yet
}

TEST(Groups, ABulkCopyPastTheEndIsAFault)
{
    constexpr std::size_t n = 128;
    std::vector<float> x(n + 64), y(2 * n);
    const LaunchResult result =
        shared("headers").run("bulk", {1, 1, 1}, {n, 1, 1}, n * sizeof(float), shared("headers").buffer(x, "input x"),
                              shared("headers").buffer(y, "y"), static_cast<int>(n));
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::OutOfBounds);
    EXPECT_NE(result.fault->sentence.find("read 16 bytes right past the end of input x"), std::string::npos)
        << result.fault->sentence;
}

TEST(Groups, ABarrierNobodyCompletesEnds)
{
    SimFixture sim(snippet(".shared .align 8 .b64 bar;\n .reg .pred %q;\n mov.u32 %r1, bar;\n"
                           "mbarrier.init.shared::cta.b64 [%r1], 33;\n"
                           "mbarrier.arrive.shared::cta.b64 _, [%r1];\n"
                           "again: mbarrier.try_wait.parity.shared::cta.b64 %q, [%r1], 0;\n @!%q bra again;\n"));
    sim.limits.maxThreadInstructions = 1'000'000;
    std::vector<std::uint64_t> out(32);
    const LaunchResult result = sim.run("t", {1, 1, 1}, {32, 1, 1}, 0, sim.buffer(out, "out"));
    ASSERT_TRUE(result.fault);
    EXPECT_EQ(result.fault->kind, FaultKind::InstructionLimit);
}

TEST(Groups, ComplexNumbers)
{
    constexpr std::size_t n = 32;
    std::vector<std::complex<float>> x(n), y(5 * n);
    for (std::size_t i = 0; i < n; ++i)
        x[i] = {static_cast<float>(i) * 0.17f - 2.3f, 1.9f - static_cast<float>(i) * 0.11f};
    const LaunchResult result =
        shared("headers").run("complexes", {1, 1, 1}, {n, 1, 1}, 0, shared("headers").buffer(x, "x"),
                              shared("headers").buffer(y, "y"), static_cast<int>(n));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t i = 0; i < n; ++i) {
        const std::complex<double> a(x[i]);
        const std::complex<double> wanted[] = {a * a, a / (a + 2.0), std::exp(a), std::sqrt(a), std::abs(a)};
        for (std::size_t k = 0; k < 5; ++k)
            EXPECT_LT(std::abs(std::complex<double>(y[k * n + i]) - wanted[k]), 2e-6 * (1 + std::abs(wanted[k])))
                << "function " << k << " of " << a;
    }
}

TEST(Cub, SoftmaxOfHalves)
{
    constexpr std::size_t rows = 3, columns = 333;
    std::mt19937 random(4);
    std::uniform_real_distribution<double> values(-4, 4);
    std::vector<std::uint16_t> x(rows * columns), y(rows * columns);
    for (std::uint16_t& v : x)
        v = doubleToHalf(values(random), Rounding::Nearest);
    const LaunchResult result = shared("cub").run("softmax", {rows, 1, 1}, {128, 1, 1}, 0, shared("cub").buffer(x, "x"),
                                                  shared("cub").buffer(y, "y"), static_cast<int>(columns));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t row = 0; row < rows; ++row) {
        double sum = 0;
        for (std::size_t c = 0; c < columns; ++c)
            sum += std::exp(double{halfToFloat(x[row * columns + c])});
        for (std::size_t c = 0; c < columns; ++c) {
            const double wanted = std::exp(double{halfToFloat(x[row * columns + c])}) / sum;
            EXPECT_NEAR(halfToFloat(y[row * columns + c]), wanted, 0.005 * wanted + 1e-6) << row << ", " << c;
        }
    }
}

TEST(Cub, ScanSortAndWarpReductions)
{
    constexpr std::size_t n = 512;
    std::mt19937 random(5);
    std::vector<int> x(n), exclusive(n), running(n), total(1);
    for (int& v : x)
        v = static_cast<int>(random() % 1000) - 300;
    const LaunchResult scan = shared("cub").run("scan", {1, 1, 1}, {128, 1, 1}, 0, shared("cub").buffer(x, "x"),
                                                shared("cub").buffer(exclusive, "e"),
                                                shared("cub").buffer(running, "r"), shared("cub").buffer(total, "t"));
    ASSERT_FALSE(scan.fault) << scan.fault->sentence;
    int sum = 0, most = x[0];
    for (std::size_t i = 0; i < n; ++i) {
        most = std::max(most, x[i]);
        EXPECT_EQ(exclusive[i], sum) << i;
        EXPECT_EQ(running[i], most) << i;
        sum += x[i];
    }
    EXPECT_EQ(total[0], sum);

    std::vector<float> f = wholeNumbers(n, 6), sorted(n), sums(4);
    std::vector<double> largest(16);
    const std::uint64_t pf = shared("cub").buffer(f, "f");
    const LaunchResult sort =
        shared("cub").run("sorted", {1, 1, 1}, {128, 1, 1}, 0, pf, shared("cub").buffer(sorted, "sorted"));
    ASSERT_FALSE(sort.fault) << sort.fault->sentence;
    std::vector<float> wanted = f;
    std::ranges::sort(wanted, std::greater());
    EXPECT_EQ(sorted, wanted);

    const LaunchResult warps =
        shared("cub").run("warps", {1, 1, 1}, {128, 1, 1}, 0, pf, shared("cub").buffer(sums, "sums"),
                          shared("cub").buffer(largest, "largest"));
    ASSERT_FALSE(warps.fault) << warps.fault->sentence;
    for (std::size_t w = 0; w < 4; ++w)
        EXPECT_EQ(sums[w], std::accumulate(f.begin() + static_cast<std::ptrdiff_t>(32 * w),
                                           f.begin() + static_cast<std::ptrdiff_t>(32 * w + 32), 0.0f));
    for (std::size_t p = 0; p < 16; ++p)
        EXPECT_EQ(largest[p], *std::max_element(f.begin() + static_cast<std::ptrdiff_t>(8 * p),
                                                f.begin() + static_cast<std::ptrdiff_t>(8 * p + 8)));
}

} // namespace
} // namespace espalier::sim
