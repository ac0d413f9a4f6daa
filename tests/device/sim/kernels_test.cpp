// SPDX-License-Identifier: Apache-2.0
// Real kernels, compiled by nvcc beforehand, against the same computation on the CPU.
#include "tests/device/sim/sim_support.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace espalier::sim {
namespace {

std::vector<float> randomFloats(std::size_t count, float low, float high, unsigned seed = 1)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(low, high);
    std::vector<float> made(count);
    for (float& value : made)
        value = values(random);
    return made;
}

std::vector<float> softmaxOf(const std::vector<float>& x, std::int64_t rows, std::int64_t cols)
{
    std::vector<float> y(x.size());
    for (std::int64_t r = 0; r < rows; ++r) {
        double m = -HUGE_VAL, s = 0;
        for (std::int64_t c = 0; c < cols; ++c)
            m = std::max<double>(m, x[static_cast<std::size_t>(r * cols + c)]);
        for (std::int64_t c = 0; c < cols; ++c)
            s += std::exp(x[static_cast<std::size_t>(r * cols + c)] - m);
        for (std::int64_t c = 0; c < cols; ++c)
            y[static_cast<std::size_t>(r * cols + c)] =
                static_cast<float>(std::exp(x[static_cast<std::size_t>(r * cols + c)] - m) / s);
    }
    return y;
}

void expectNear(const std::vector<float>& got, const std::vector<float>& wanted, float relative)
{
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i], relative * std::fabs(wanted[i]) + 1e-30f) << "at " << i;
}

struct SoftmaxCase {
    const char* kernel;
    std::int64_t rows, cols;
    std::uint32_t blocks, threads;
};

class Softmax : public testing::TestWithParam<SoftmaxCase>
{
};

TEST_P(Softmax, MatchesTheCpu)
{
    const auto [kernel, rows, cols, blocks, threads] = GetParam();
    SimFixture sim(fixture("softmax.ptx"));
    std::vector<float> x = randomFloats(static_cast<std::size_t>(rows * cols), -8, 8), y(x.size(), NAN);
    const auto px = sim.buffer(x, "input x", Access::ReadOnly), py = sim.buffer(y, "output y");
    const LaunchResult result = sim.run(kernel, {blocks, 1, 1}, {threads, 1, 1}, 0, px, py, rows, cols);
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    expectNear(y, softmaxOf(x, rows, cols), 3e-6f);
    EXPECT_EQ(result.counters.blocks, blocks);
    EXPECT_EQ(result.counters.threads, std::uint64_t{blocks} * threads);
    const std::uint64_t bytes = x.size() * 4;
    EXPECT_EQ(result.counters.dramReadBytes, (bytes + 31) / 32 * 32);
    EXPECT_EQ(result.counters.dramWriteBytes, (bytes + 31) / 32 * 32);
    EXPECT_EQ(result.counters.globalStoreBytes, bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Softmax,
    testing::Values(SoftmaxCase{"softmax_naive", 70, 37, 3, 32}, SoftmaxCase{"softmax_warp", 9, 100, 3, 128},
                    SoftmaxCase{"softmax_block", 5, 1000, 5, 256}, SoftmaxCase{"softmax_block", 3, 1, 3, 64},
                    SoftmaxCase{"softmax_online", 4, 777, 4, 128}, SoftmaxCase{"softmax_float4", 3, 1024, 3, 64},
                    SoftmaxCase{"softmax_float4", 2, 1000, 2, 128}));

TEST(Kernels, LayernormMatchesTheCpu)
{
    const std::int64_t rows = 4, cols = 501;
    SimFixture sim(fixture("softmax.ptx"));
    std::vector<float> x = randomFloats(static_cast<std::size_t>(rows * cols), -3, 5), y(x.size());
    std::vector<float> g = randomFloats(static_cast<std::size_t>(cols), 0.5f, 2, 2);
    std::vector<float> b = randomFloats(static_cast<std::size_t>(cols), -1, 1, 3);
    const LaunchResult result =
        sim.run("layernorm", {4, 1, 1}, {96, 1, 1}, 0, sim.buffer(x, "input x", Access::ReadOnly),
                sim.buffer(g, "input g", Access::ReadOnly), sim.buffer(b, "input b", Access::ReadOnly),
                sim.buffer(y, "output y"), cols);
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t r = 0; r < 4; ++r) {
        double mean = 0, variance = 0;
        for (std::size_t c = 0; c < 501; ++c)
            mean += x[r * 501 + c] / 501.0;
        for (std::size_t c = 0; c < 501; ++c)
            variance += (x[r * 501 + c] - mean) * (x[r * 501 + c] - mean) / 501.0;
        for (std::size_t c = 0; c < 501; ++c)
            ASSERT_NEAR(y[r * 501 + c], (x[r * 501 + c] - mean) / std::sqrt(variance + 1e-5) * g[c] + b[c], 1e-5);
    }
}

void runMatmul(const char* kernel, int n, Dim3 grid, Dim3 block, bool wanted = true)
{
    SimFixture sim(fixture("matmul.ptx"));
    const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    std::vector<float> a = randomFloats(size, -1, 1), b = randomFloats(size, -1, 1, 2), c(size, NAN);
    const LaunchResult result = sim.run(kernel, grid, block, 0, sim.buffer(a, "input a", Access::ReadOnly),
                                        sim.buffer(b, "input b", Access::ReadOnly), sim.buffer(c, "output c"), n);
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    bool right = true;
    for (std::size_t i = 0; i < size; ++i) {
        float sum = 0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k)
            sum = std::fma(a[i / static_cast<std::size_t>(n) * static_cast<std::size_t>(n) + k],
                           b[k * static_cast<std::size_t>(n) + i % static_cast<std::size_t>(n)], sum);
        right = right && c[i] == sum; // the same order of fused operations: the same bits
    }
    EXPECT_EQ(right, wanted);
    EXPECT_EQ(result.counters.dramReadBytes, (size * 4 + 31) / 32 * 32 * 2);
    const std::uint64_t flops = 2 * size * static_cast<std::uint64_t>(n);
    EXPECT_GE(result.counters.flopsF32, flops);
}

TEST(Kernels, MatmulNaive)
{
    runMatmul("matmul_naive", 40, {3, 3, 1}, {16, 16, 1});
}
TEST(Kernels, MatmulTiled)
{
    runMatmul("matmul_tiled", 50, {4, 4, 1}, {16, 16, 1});
}
TEST(Kernels, MatmulRegisters)
{
    runMatmul("matmul_registers", 128, {2, 2, 1}, {256, 1, 1});
}
TEST(Kernels, MatmulAsync)
{
    runMatmul("matmul_async", 64, {4, 4, 1}, {16, 16, 1});
}
TEST(Kernels, ForgottenWaitShows)
{
    runMatmul("matmul_async_no_wait", 32, {2, 2, 1}, {16, 16, 1}, false);
}

TEST(Kernels, BankConflictsAreCounted)
{
    SimFixture sim(fixture("matmul.ptx"));
    std::vector<float> x = randomFloats(1024, -1, 1), y(1024);
    const auto px = sim.buffer(x, "input x", Access::ReadOnly), py = sim.buffer(y, "output y");
    const LaunchResult bad = sim.run("transpose_conflicts", {1, 1, 1}, {32, 32, 1}, 0, px, py);
    const LaunchResult good = sim.run("transpose_padded", {1, 1, 1}, {32, 32, 1}, 0, px, py);
    ASSERT_FALSE(bad.fault || good.fault);
    EXPECT_EQ(y[1], x[32]);
    EXPECT_EQ(good.counters.sharedRequests, 64u);
    EXPECT_EQ(good.counters.sharedWavefronts, 64u);
    EXPECT_EQ(bad.counters.sharedRequests, 64u);
    EXPECT_EQ(bad.counters.sharedWavefronts, 32u + 32u * 32u);
}

TEST(Kernels, SectorsShowCoalescing)
{
    SimFixture sim(fixture("softmax.ptx"));
    std::vector<float> x = randomFloats(64 * 64, -1, 1), y(x.size());
    const auto px = sim.buffer(x, "input x", Access::ReadOnly), py = sim.buffer(y, "output y");
    const std::int64_t n = 64;
    const Counters strided = sim.run("copy_strided", {1, 1, 1}, {64, 1, 1}, 0, px, py, n, n).counters;
    const Counters coalesced = sim.run("copy_coalesced", {1, 1, 1}, {64, 1, 1}, 0, px, py, n, n).counters;
    const Counters quads = sim.run("copy_float4", {1, 1, 1}, {64, 1, 1}, 0, px, py, n, n).counters;
    EXPECT_EQ(x, y);
    EXPECT_EQ(strided.globalLoadRequests, 128u);
    EXPECT_EQ(strided.globalLoadSectors, 128u * 32);
    EXPECT_EQ(coalesced.globalLoadRequests, 128u);
    EXPECT_EQ(coalesced.globalLoadSectors, 128u * 4);
    EXPECT_EQ(quads.globalLoadRequests, 32u);
    EXPECT_EQ(quads.globalLoadSectors, 32u * 16);
    for (const Counters& counters : {strided, coalesced, quads}) {
        EXPECT_EQ(counters.globalLoadBytes, 16384u);
        EXPECT_EQ(counters.dramReadBytes, 16384u);
        EXPECT_EQ(counters.dramWriteBytes, 16384u);
    }
}

TEST(Kernels, SameLaunchTwiceIsTheSame)
{
    std::vector<float> first;
    std::uint64_t instructions = 0;
    for (int round = 0; round < 2; ++round) {
        SimFixture sim(fixture("softmax.ptx"));
        std::vector<float> x = randomFloats(3000, -8, 8), y(x.size());
        const std::int64_t rows = 3, cols = 1000;
        const LaunchResult result =
            sim.run("softmax_online", {3, 1, 1}, {96, 1, 1}, 0, sim.buffer(x, "x"), sim.buffer(y, "y"), rows, cols);
        ASSERT_FALSE(result.fault);
        if (round == 1) {
            EXPECT_EQ(y, first);
            EXPECT_EQ(result.counters.threadInstructions, instructions);
        }
        first = y;
        instructions = result.counters.threadInstructions;
    }
}

} // namespace
} // namespace espalier::sim
