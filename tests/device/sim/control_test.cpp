// SPDX-License-Identifier: Apache-2.0
// Control flow, calls, local memory, atomics, exchange between lanes, barriers.
#include "tests/device/sim/sim_support.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

namespace espalier::sim {
namespace {

TEST(Control, Histogram)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<int> x(1000), bins(64, 0), wanted(64, 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<int>(i * i * 7 + i);
        ++wanted[static_cast<std::size_t>(x[i] & 63)];
    }
    const LaunchResult result =
        sim.run("histogram", {3, 1, 1}, {96, 1, 1}, 0, sim.buffer(x, "x"), sim.buffer(bins, "bins"), 1000);
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    EXPECT_EQ(bins, wanted);
    int visits = 0;
    std::memcpy(&visits, sim.variable("visits"), 4);
    EXPECT_EQ(visits, 5 + 3);
    EXPECT_EQ(result.counters.atomics, 1000u + 3 * 64 + 3);
    EXPECT_EQ(result.counters.barriers, 3u * 3 * 2);
}

TEST(Control, Atomics)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<int> i{-5, 5};
    std::vector<unsigned> u{0, 0, 0, 0xFFF};
    std::vector<unsigned long long> l(70, 100);
    std::vector<float> f{1};
    std::vector<double> d{2, 3};
    const LaunchResult result = sim.run("atomics", {1, 1, 1}, {64, 1, 1}, 0, sim.buffer(i, "i"), sim.buffer(u, "u"),
                                        sim.buffer(l, "l"), sim.buffer(f, "f"), sim.buffer(d, "d"));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    EXPECT_EQ(i, (std::vector<int>{63, -63}));
    EXPECT_EQ(u, (std::vector<unsigned>{0xFFFFFFFF, 0, 64 % 10, 0xF00}));
    EXPECT_EQ(l[0], 100 + (64ull << 33));
    EXPECT_EQ(l[1 + 17], 100u + 17);
    EXPECT_EQ(f[0], 33.0f);
    EXPECT_EQ(d, (std::vector<double>{18, 67}));
}

float poly(float x, int n)
{
    float r = 0;
    for (int k = 0; k < n; ++k)
        r = std::fma(r, x, static_cast<float>(1 << (k & 7)));
    return r;
}

TEST(Control, CallsThroughParamSpace)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<float> x(100), y(100, NAN);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i) * 0.125f - 4;
    const LaunchResult result = sim.run("calls", {2, 1, 1}, {64, 1, 1}, 0, sim.buffer(x, "x"), sim.buffer(y, "y"), 100);
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const float a = poly(x[i], 3), b = x[i] > 0 ? poly(x[i], 5) : -x[i];
        EXPECT_EQ(y[i], i % 3 == 0 ? poly(a, static_cast<int>(i % 7)) : a + b) << i;
    }
}

TEST(Control, LocalArrays)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<int> x(40), y(40);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<int>(i * 37 % 101);
    const LaunchResult result =
        sim.run("local_array", {1, 1, 1}, {40, 1, 1}, 0, sim.buffer(x, "x"), sim.buffer(y, "y"), 40);
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    EXPECT_GT(result.counters.localBytes, 40u * 24 * 4);
    for (std::size_t t = 0; t < 40; ++t) {
        std::vector<int> v(24);
        for (std::size_t k = 0; k < 24; ++k)
            v[k] = x[(t + k) % 40];
        std::ranges::sort(v);
        unsigned sum = 0;
        for (int k = 0; k < 24; ++k)
            sum = sum * 3 + static_cast<unsigned>(v[static_cast<std::size_t>((x[t % 40] + k) % 24 & 31)]);
        EXPECT_EQ(y[t], static_cast<int>(sum)) << t;
    }
}

int collatz(const std::vector<int>& x, std::size_t i)
{
    int v = x[i], steps = 0;
    while (v != 1 && steps < 200) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        if (steps == 150)
            break;
        ++steps;
    }
    switch (x[i] % 9) {
    case 0:
        return steps + 1;
    case 1:
        return steps * 2;
    case 2:
        return (steps - 3) ^ 5;
    case 3:
        return steps ^ 5;
    case 4:
        return -steps;
    case 5:
        return steps + x[(i + 1) % x.size()];
    case 6:
        return steps << 2;
    default:
        return -1000;
    }
}

TEST(Control, DivergentLoopsAndSwitch)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<int> x(150), y(150, -1000);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<int>(i + 1);
    const LaunchResult result =
        sim.run("divergent", {3, 1, 1}, {64, 1, 1}, 0, sim.buffer(x, "x"), sim.buffer(y, "y"), 150);
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_EQ(y[i], collatz(x, i)) << i;
    EXPECT_GT(result.counters.divergentBranches, 100u);
}

TEST(Control, WarpFunctions)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<int> x(32), y(320, -7);
    for (int i = 0; i < 32; ++i)
        x[static_cast<std::size_t>(i)] = i * 5 % 7;
    const LaunchResult result =
        sim.run("warp_functions", {1, 1, 1}, {32, 1, 1}, 0, sim.buffer(x, "x"), sim.buffer(y, "y"));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    unsigned odd = 0;
    int sum = 0, evenAbove = 0;
    std::vector<int> seven(32, 0);
    for (std::size_t i = 0; i < 32; ++i) {
        odd |= static_cast<unsigned>(x[i] & 1) << i;
        sum += x[i];
        evenAbove += i % 2 == 0 && x[i] > 2;
        if (i % 2)
            seven[i] = x[i ^ 2];
    }
    for (std::size_t t = 0; t < 32; ++t) {
        const int* out = &y[t * 10];
        unsigned match = 0;
        for (std::size_t j = 0; j < 32; ++j)
            match |= static_cast<unsigned>((x[j] & 3) == (x[t] & 3)) << j;
        EXPECT_EQ(static_cast<unsigned>(out[0]), odd);
        EXPECT_EQ(out[1], 1);
        EXPECT_EQ(out[2], 1);
        EXPECT_EQ(out[3], sum);
        EXPECT_EQ(static_cast<unsigned>(out[4]), match);
        EXPECT_EQ(out[5], x[t < 3 ? t : t - 3]);
        EXPECT_EQ(out[6], x[t / 8 * 8 + 5]);
        EXPECT_EQ(out[7], seven[t]);
        EXPECT_EQ(out[8], t % 2 ? static_cast<int>(0xAAAAAAAA) : evenAbove);
        EXPECT_EQ(out[9], seven[t % 16 + 4 < 16 ? t + 4 : t]);
    }
}

TEST(Control, LanesMeetInDifferentBranchesAndLocksEnd)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<int> y(32), lock{0, 0};
    const LaunchResult result =
        sim.run("warp_sync", {1, 1, 1}, {32, 1, 1}, 0, sim.buffer(y, "y"), sim.buffer(lock, "lock"));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (int t = 0; t < 32; ++t)
        EXPECT_EQ(y[static_cast<std::size_t>(t)], t < 16 ? (t + 16) * 5 : (t - 16) * 3);
    EXPECT_EQ(lock, (std::vector<int>{0, 31 * 32 / 2}));
}

TEST(Control, BlockVotes)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<int> x(80), y(80);
    for (std::size_t i = 0; i < 80; ++i)
        x[i] = static_cast<int>(i);
    const LaunchResult result =
        sim.run("block_votes", {1, 1, 1}, {80, 1, 1}, 0, sim.buffer(x, "x"), sim.buffer(y, "y"));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    EXPECT_EQ(y, std::vector<int>(80, 69 * 4 + 2 + 1));
}

TEST(Control, NamedBarriersAndFlags)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<int> y(64), z(32);
    const LaunchResult named = sim.run("named_barriers", {1, 1, 1}, {128, 1, 1}, 0, sim.buffer(y, "y"));
    ASSERT_FALSE(named.fault) << named.fault->sentence;
    for (int t = 0; t < 64; ++t)
        EXPECT_EQ(y[static_cast<std::size_t>(t)], (63 - t) * (63 - t));
    const LaunchResult flag = sim.run("spin_flag", {1, 1, 1}, {64, 1, 1}, 0, sim.buffer(z, "z"));
    ASSERT_FALSE(flag.fault) << flag.fault->sentence;
    EXPECT_EQ(z, std::vector<int>(32, 42));
}

TEST(Control, BlocksMayWaitForOneAnother)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<int> y(80), arrived(1, 0);
    const LaunchResult result =
        sim.run("grid_barrier", {40, 1, 1}, {64, 1, 1}, 0, sim.buffer(y, "y"), sim.buffer(arrived, "arrived"));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (int b = 0; b < 40; ++b)
        EXPECT_EQ(y[static_cast<std::size_t>(40 + b)], 40 - b);
    EXPECT_EQ(result.counters.blocks, 40u);
}

TEST(Control, DynamicSharedAndParametersByValue)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<float> y(48);
    const auto py = sim.buffer(y, "y");
    ASSERT_FALSE(sim.run("dynamic_shared", {1, 1, 1}, {48, 1, 1}, 48 * 4, py).fault);
    EXPECT_EQ(y[0], 94.0f);
    EXPECT_EQ(y[47], 0.0f);
    const LaunchResult over = sim.run("dynamic_shared", {1, 1, 1}, {48, 1, 1}, 47 * 4, py);
    ASSERT_TRUE(over.fault);
    EXPECT_EQ(over.fault->kind, FaultKind::SharedOutOfBounds);
    struct Big {
        float v[20];
        int n;
    } big{};
    for (int i = 0; i < 20; ++i)
        big.v[i] = static_cast<float>(i);
    big.n = 100;
    const LaunchResult result = sim.run("by_value", {1, 1, 1}, {40, 1, 1}, 0, big, py, 3);
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t t = 0; t < 40; ++t)
        EXPECT_EQ(y[t], static_cast<float>((t + 3) % 20 + 100));
}

TEST(Control, CountsOfAStraightKernel)
{
    SimFixture sim(snippet("add.f32 %f0, 0f3F800000, 0f3F800000;\n setp.lt.u32 %p0, %r0, 8;\n"
                           "@%p0 fma.rn.f32 %f0, %f0, %f0, %f0;\n st.global.f32 [%rd0], %f0;\n"));
    std::vector<std::uint64_t> out(40);
    const LaunchResult result = sim.run("t", {1, 1, 1}, {40, 1, 1}, 0, sim.buffer(out, "out"));
    ASSERT_FALSE(result.fault);
    // 4 instructions of the frame, 4 of the body, ret.
    EXPECT_EQ(result.counters.warpInstructions, 9u * 2);
    EXPECT_EQ(result.counters.threadInstructions, 9u * 40 - 32);
    EXPECT_EQ(result.counters.flopsF32, 40u + 2 * 8);
    EXPECT_EQ(result.counters.globalStoreBytes, 160u);
    EXPECT_EQ(result.counters.globalStoreRequests, 2u);
    EXPECT_EQ(result.counters.globalStoreSectors, 10u);
}

} // namespace
} // namespace espalier::sim
