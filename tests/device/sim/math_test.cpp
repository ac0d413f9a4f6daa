// SPDX-License-Identifier: Apache-2.0
// What nvcc makes of the CUDA math library and of wide integers.
#include "tests/device/sim/sim_support.h"

#include "core/device/sim/small_float.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace espalier::sim {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

TEST(Math, DoubleAndFloatFunctions)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::vector<double> x(64), y(64);
    std::vector<float> u(64), v(64);
    for (std::size_t i = 0; i < 64; ++i) {
        x[i] = static_cast<double>(i) * 0.37 - 11;
        u[i] = static_cast<float>(i) * 0.21f - 6;
    }
    const LaunchResult result = sim.run("doubles", {1, 1, 1}, {64, 1, 1}, 0, sim.buffer(x, "x"), sim.buffer(y, "y"),
                                        sim.buffer(u, "u"), sim.buffer(v, "v"));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t i = 0; i < 64; ++i) {
        const double wanted = std::exp(x[i]) + std::sin(x[i]) * std::sqrt(std::fabs(x[i])) / (x[i] * x[i] + 1.5);
        EXPECT_NEAR(y[i], wanted, 1e-13 * std::fabs(wanted) + 1e-15) << i;
        const double w = u[i], a = std::fabs(w);
        const float scaled = u[i] * 1000.0f;
        EXPECT_NEAR(v[i],
                    std::sin(scaled) + std::log(a + 0.1f) + std::pow(a, 1.7f) + std::tanh(w) + std::erf(w) +
                        std::log1p(a),
                    2e-5)
            << i;
    }
    EXPECT_GT(result.counters.flopsF64, 64u * 20);
}

TEST(Math, HalfKernels)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::mt19937 random(3);
    std::uniform_real_distribution<float> values(-2, 2);
    std::vector<std::uint16_t> a(64), b(64), c(64), d(32), e(32), f(32);
    std::vector<float> g(128);
    for (std::size_t i = 0; i < 64; ++i) {
        a[i] = floatToHalf(values(random));
        b[i] = floatToHalf(values(random));
        if (i < 32) {
            d[i] = floatToBfloat(values(random));
            e[i] = floatToBfloat(values(random));
        }
    }
    const LaunchResult result =
        sim.run("halves", {1, 1, 1}, {32, 1, 1}, 0, sim.buffer(a, "a"), sim.buffer(b, "b"), sim.buffer(c, "c"),
                sim.buffer(d, "d"), sim.buffer(e, "e"), sim.buffer(f, "f"), sim.buffer(g, "g"));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    const auto h = [](double x) { return halfToFloat(doubleToHalf(x, Rounding::Nearest)); };
    for (std::size_t i = 0; i < 64; ++i) {
        const double x = halfToFloat(a[i]), y = halfToFloat(b[i]);
        EXPECT_EQ(halfToFloat(c[i]), h(x * y + h(x + h(y * y)))) << i; // exact in double
    }
    for (std::size_t i = 0; i < 32; ++i) {
        const double x = bfloatToFloat(d[i]), y = bfloatToFloat(e[i]);
        const double sum = bfloatToFloat(doubleToBfloat(x + y, Rounding::Nearest));
        EXPECT_EQ(f[i], doubleToBfloat(x * y + sum, Rounding::Nearest)) << i;
        const float low = halfToFloat(a[2 * i]) + static_cast<float>(x) +
                          (halfToFloat(a[2 * i]) > halfToFloat(b[2 * i]) ? 1.0f : 0.0f);
        EXPECT_EQ(g[i], low);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(g[64 + i]), (std::uint32_t{floatToHalf(-low)} << 16) | floatToHalf(low));
    }
}

std::uint32_t permuted(std::uint32_t p, std::uint32_t q, unsigned selector)
{
    std::uint32_t r = 0;
    for (unsigned i = 0; i < 4; ++i)
        r |= ((((std::uint64_t{q} << 32) | p) >> (8 * (selector >> (4 * i) & 7))) & 255) << (8 * i);
    return r;
}

TEST(Math, Integers)
{
    SimFixture sim(fixture("mixed.ptx"));
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> a(32), b(32), r(32 * 24);
    for (std::size_t i = 0; i < 32; ++i) {
        a[i] = random() >> (i % 3 * 20);
        b[i] = random() >> (i % 5 * 11);
    }
    const LaunchResult result =
        sim.run("integers", {1, 1, 1}, {32, 1, 1}, 0, sim.buffer(a, "a"), sim.buffer(b, "b"), sim.buffer(r, "r"));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t i = 0; i < 32; ++i) {
        const std::uint64_t x = a[i], y = b[i];
        const auto sx = static_cast<std::int64_t>(x), sy1 = static_cast<std::int64_t>(y | 1);
        const auto p = static_cast<std::uint32_t>(x), q = static_cast<std::uint32_t>(y);
        std::uint32_t brev = 0;
        std::uint64_t brevl = 0;
        for (unsigned k = 0; k < 64; ++k) {
            brevl |= (x >> k & 1) << (63 - k);
            if (k < 32)
                brev |= (p >> k & 1) << (31 - k);
        }
        std::int32_t dot = 7;
        for (unsigned k = 0; k < 4; ++k)
            dot += static_cast<std::int8_t>(p >> (8 * k)) * static_cast<std::int8_t>(q >> (8 * k));
        const auto sp = static_cast<std::int32_t>(p), sq = static_cast<std::int32_t>(q);
        const Uint128 product = static_cast<Uint128>(x) * y;
        const Uint128 wide = product + ((static_cast<Uint128>(y) << 64) | x);
        const std::uint64_t wanted[24] = {
            x + y,
            x - y,
            x * y,
            x / (y | 1),
            x % (y | 1),
            static_cast<std::uint64_t>(sx / sy1),
            static_cast<std::uint64_t>(sx % sy1),
            static_cast<std::uint64_t>(product >> 64),
            static_cast<std::uint64_t>((static_cast<Int128>(sx) * static_cast<std::int64_t>(y)) >> 64),
            static_cast<std::uint64_t>(std::popcount(p) + std::popcount(x) * 100),
            static_cast<std::uint64_t>(std::countl_zero(p) + std::countl_zero(x) * 100),
            brev,
            brevl,
            permuted(p, q, 0x5173),
            static_cast<std::uint32_t>(dot),
            static_cast<std::uint32_t>((((std::uint64_t{q} << 32) | p) << (p & 31)) >> 32),
            static_cast<std::uint32_t>((sp > sq ? p - q : q - p) + 3),
            static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(p)} + static_cast<std::int16_t>(q)),
            x << (q & 63),
            static_cast<std::uint64_t>(sx >> (q & 63)),
            static_cast<std::uint64_t>((p ? std::countr_zero(p) + 1 : 0) + (x ? std::countr_zero(x) + 1 : 0) * 100),
            static_cast<std::uint64_t>(p / (q | 1) + p % (q | 1) * 3),
            static_cast<std::uint64_t>(wide),
            static_cast<std::uint64_t>(wide >> 64)};
        for (std::size_t k = 0; k < 24; ++k)
            EXPECT_EQ(r[i * 24 + k], wanted[k]) << "lane " << i << ", value " << k;
    }
}

} // namespace
} // namespace espalier::sim
