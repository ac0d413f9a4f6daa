// SPDX-License-Identifier: Apache-2.0
// What cuda_fp16.h, cuda_bf16.h, cuda_fp8.h and the integer intrinsics expand to, against their definitions.
#include "tests/device/sim/sim_support.h"

#include "core/device/sim/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace espalier::sim {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using S32 = std::int32_t;

struct Half {
    static constexpr const char* name = "half";
    static constexpr int mantissa = 10, least = -14;
    static constexpr double largest = 65504;
    static double wide(U16 bits) { return halfToFloat(bits); }
    static U16 nearest(double x) { return doubleToHalf(x, Rounding::Nearest); }
};
struct Bfloat {
    static constexpr const char* name = "bf16";
    static constexpr int mantissa = 7, least = -126;
    static constexpr double largest = 0x1.FEp127;
    static double wide(U16 bits) { return bfloatToFloat(bits); }
    static U16 nearest(double x) { return doubleToBfloat(x, Rounding::Nearest); }
};

template <class H>
bool isNan(U16 bits)
{
    return std::isnan(H::wide(bits));
}

/// Whether `bits` lies within `ulps` units in the last place of a value of the format.
template <class H>
::testing::AssertionResult near(U16 bits, double wanted, double ulps)
{
    const double got = H::wide(bits);
    if (std::isnan(wanted) || std::isnan(got))
        return std::isnan(wanted) == std::isnan(got) ? ::testing::AssertionSuccess()
                                                     : ::testing::AssertionFailure() << got << " for " << wanted;
    const double ulp = std::ldexp(1.0, std::max(wanted == 0 ? H::least : std::ilogb(wanted), H::least) - H::mantissa);
    const bool overflows = std::fabs(wanted) > H::largest;
    const bool ok = overflows ? got == std::copysign(HUGE_VAL, wanted) || std::fabs(got) == H::largest
                              : std::fabs(got - wanted) <= ulps * ulp;
    return ok ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << got << " for " << wanted;
}

constexpr std::size_t lanes = 64;

/// Values of all sizes around zero, and the special ones.
template <class H>
std::vector<U16> inputs(unsigned seed, std::size_t count = lanes)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> mantissa(-2, 2);
    std::vector<U16> made(count);
    for (std::size_t i = 0; i < count; ++i)
        made[i] = H::nearest(std::ldexp(mantissa(random), static_cast<int>(random() % 9) - 6));
    const double special[] = {0.0,       -0.0, 1.0, -1.0,       HUGE_VAL,
                              -HUGE_VAL, NAN,  0.5, H::largest, std::ldexp(3.0, H::least - 3)};
    for (std::size_t i = 0; i < std::size(special); ++i)
        made[(i * 5 + seed) % count] = std::isfinite(special[i]) ? H::nearest(special[i])
                                       : std::isnan(special[i])
                                           ? U16{0x7FFF}
                                           : static_cast<U16>(H::nearest(1e30) | (special[i] < 0 ? 0x8000 : 0));
    return made;
}

std::vector<std::function<double(double)>> unaryDefinitions()
{
    const auto of = [](double (*f)(double)) { return std::function<double(double)>(f); };
    return {of(std::exp),
            of(std::exp2),
            [](double x) { return std::pow(10.0, x); },
            of(std::log),
            of(std::log2),
            of(std::log10),
            of(std::sqrt),
            [](double x) { return 1 / std::sqrt(x); },
            [](double x) { return 1 / x; },
            of(std::sin),
            of(std::cos),
            of(std::tanh),
            of(std::tanh),
            of(std::floor),
            of(std::ceil),
            of(std::trunc),
            of(std::nearbyint),
            of(std::fabs),
            [](double x) { return -x; }};
}

template <class H>
class SmallFloats : public ::testing::Test
{
};
using Formats = ::testing::Types<Half, Bfloat>;
TYPED_TEST_SUITE(SmallFloats, Formats);

TYPED_TEST(SmallFloats, FunctionsOfOneAreWithinAnUlp)
{
    using H = TypeParam;
    const auto definitions = unaryDefinitions();
    std::vector<U16> x = inputs<H>(7), y(lanes * definitions.size()), y2(lanes * definitions.size());
    const std::uint64_t px = shared("headers").buffer(x, "x");
    const LaunchResult one = shared("headers").run(std::string(H::name) + "_unary", {1, 1, 1}, {lanes, 1, 1}, 0, px,
                                                   shared("headers").buffer(y, "y"), static_cast<int>(lanes));
    ASSERT_FALSE(one.fault) << one.fault->sentence;
    const LaunchResult two = shared("headers").run(std::string(H::name) + "_unary2", {1, 1, 1}, {lanes / 2, 1, 1}, 0,
                                                   px, shared("headers").buffer(y2, "y2"), static_cast<int>(lanes / 2));
    ASSERT_FALSE(two.fault) << two.fault->sentence;
    for (std::size_t k = 0; k < definitions.size(); ++k)
        for (std::size_t i = 0; i < lanes; ++i) {
            const double wanted = definitions[k](H::wide(x[i]));
            EXPECT_TRUE(near<H>(y[k * lanes + i], wanted, 1)) << "function " << k << " of " << H::wide(x[i]);
            EXPECT_TRUE(near<H>(y2[k * lanes + i], wanted, 1)) << "pair function " << k << " of " << H::wide(x[i]);
        }
}

double saturated(double x)
{
    return x > 0 ? std::min(x, 1.0) : 0; // NaN becomes 0
}

TYPED_TEST(SmallFloats, ArithmeticRoundsOnce)
{
    using H = TypeParam;
    constexpr std::size_t count = 14;
    std::vector<U16> a = inputs<H>(1), b = inputs<H>(2), c = inputs<H>(3), y(lanes * count), y2(lanes * count);
    const std::uint64_t pa = shared("headers").buffer(a, "a"), pb = shared("headers").buffer(b, "b"),
                        pc = shared("headers").buffer(c, "c");
    const LaunchResult one = shared("headers").run(std::string(H::name) + "_binary", {1, 1, 1}, {lanes, 1, 1}, 0, pa,
                                                   pb, pc, shared("headers").buffer(y, "y"), static_cast<int>(lanes));
    ASSERT_FALSE(one.fault) << one.fault->sentence;
    const LaunchResult two =
        shared("headers").run(std::string(H::name) + "_binary2", {1, 1, 1}, {lanes / 2, 1, 1}, 0, pa, pb, pc,
                              shared("headers").buffer(y2, "y2"), static_cast<int>(lanes / 2));
    ASSERT_FALSE(two.fault) << two.fault->sentence;
    for (std::size_t i = 0; i < lanes; ++i) {
        const double p = H::wide(a[i]), q = H::wide(b[i]), r = H::wide(c[i]);
        const bool unordered = std::isnan(p) || std::isnan(q);
        const double fma = std::fma(p, q, r);
        const double wanted[count] = {p + q,
                                      p - q,
                                      p * q,
                                      p / q,
                                      saturated(p + q),
                                      saturated(p - q),
                                      saturated(p * q),
                                      std::fmin(p, q),
                                      std::fmax(p, q),
                                      unordered ? NAN : std::fmin(p, q),
                                      unordered ? NAN : std::fmax(p, q),
                                      fma,
                                      std::isnan(fma) ? NAN : std::max(fma, 0.0),
                                      saturated(fma)};
        for (std::size_t k = 0; k < count; ++k) {
            const double ulps = k == 3 ? 1 : 0.5; // half an ulp: correctly rounded
            EXPECT_TRUE(near<H>(y[k * lanes + i], wanted[k], ulps)) << "operation " << k << ": " << p << ", " << q;
            EXPECT_TRUE(near<H>(y2[k * lanes + i], wanted[k], ulps)) << "pairs " << k << ": " << p << ", " << q;
        }
    }
}

TYPED_TEST(SmallFloats, ComparisonsGiveMasksOnesAndBits)
{
    using H = TypeParam;
    constexpr std::size_t count = 16, warp = lanes / 2;
    std::vector<U16> a = inputs<H>(4), b = inputs<H>(5);
    for (std::size_t i = 0; i < lanes; i += 3)
        b[i] = a[i];
    std::vector<U32> y(warp * count);
    const LaunchResult result = shared("headers").run(
        std::string(H::name) + "_compare", {1, 1, 1}, {warp, 1, 1}, 0, shared("headers").buffer(a, "a"),
        shared("headers").buffer(b, "b"), shared("headers").buffer(y, "y"), static_cast<int>(warp));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    const U32 one = H::nearest(1.0);
    for (std::size_t i = 0; i < warp; ++i) {
        bool is[2][11] = {}; // eq ne lt le gt ge equ neu ltu geu nan(p), low and high
        for (std::size_t part = 0; part < 2; ++part) {
            const double p = H::wide(a[2 * i + part]), q = H::wide(b[2 * i + part]);
            const bool unordered = std::isnan(p) || std::isnan(q);
            const bool wanted[11] = {p == q, !unordered && p != q, p<q, p <= q, p> q, p >= q,       p == q || unordered,
                                     p != q, p < q || unordered,   !(p < q),          std::isnan(p)};
            std::ranges::copy(wanted, is[part]);
        }
        const auto both = [&](std::size_t k, U32 yes) { return (is[0][k] ? yes : 0) | (is[1][k] ? yes : 0) << 16; };
        for (std::size_t k = 0; k < 10; ++k)
            EXPECT_EQ(y[k * warp + i], both(k, 0xFFFF)) << "mask " << k << ", lane " << i;
        const std::size_t ones[] = {0, 1, 2, 9, 10};
        for (std::size_t k = 0; k < 5; ++k)
            EXPECT_EQ(y[(10 + k) * warp + i], both(ones[k], one)) << "ones " << k << ", lane " << i;
        const auto all = [&](std::size_t k) { return static_cast<U32>(is[0][k] && is[1][k]); };
        EXPECT_EQ(y[15 * warp + i],
                  all(0) + 2 * all(4) + 4 * all(7) + 8u * is[0][2] + 16u * is[1][10] + 32u * is[1][9] + 64u * is[0][0])
            << "lane " << i;
    }
}

template <class T>
std::int64_t clamped(double x)
{
    if (std::isnan(x))
        return 0;
    return static_cast<std::int64_t>(std::clamp(x, static_cast<double>(std::numeric_limits<T>::min()),
                                                static_cast<double>(std::numeric_limits<T>::max())));
}

TEST(Headers, HalvesBecomeIntegersAndBack)
{
    constexpr std::size_t count = 13;
    std::vector<U16> x = inputs<Half>(11);
    x[3] = x[4] = Half::nearest(-700.5); // finite: a NaN has no integer that all widths agree on
    for (U16& v : x)
        v = isNan<Half>(v) ? Half::nearest(2.5) : v;
    std::vector<std::int64_t> y(lanes * count);
    const LaunchResult result =
        shared("headers").run("half_integers", {1, 1, 1}, {lanes, 1, 1}, 0, shared("headers").buffer(x, "x"),
                              shared("headers").buffer(y, "y"), static_cast<int>(lanes));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t i = 0; i < lanes; ++i) {
        const double v = Half::wide(x[i]);
        const int n = static_cast<int>(i);
        const auto bits = [](double value, Rounding mode) {
            return std::int64_t{static_cast<std::int16_t>(doubleToHalf(value, mode))};
        };
        const std::int64_t wanted[count] = {clamped<S32>(std::nearbyint(v)),
                                            clamped<S32>(std::trunc(v)),
                                            clamped<S32>(std::floor(v)),
                                            clamped<S32>(std::ceil(v)),
                                            clamped<std::int16_t>(std::nearbyint(v)),
                                            clamped<U16>(std::trunc(v)),
                                            clamped<U32>(std::ceil(v)),
                                            std::isinf(v) ? y[7 * lanes + i] : static_cast<std::int64_t>(std::floor(v)),
                                            clamped<std::int8_t>(std::trunc(v)),
                                            bits(n * 1234567 - 7, Rounding::Nearest),
                                            bits(n * 321, Rounding::Zero),
                                            bits(n * 99 - 1000, Rounding::Up),
                                            bits(static_cast<std::int16_t>(-31 * n * n), Rounding::Down)};
        for (std::size_t k = 0; k < count; ++k)
            EXPECT_EQ(y[k * lanes + i], wanted[k]) << "conversion " << k << " of " << v << ", lane " << i;
    }
}

/// An eight-bit float by its definition.
double eightBit(unsigned code, int exponentBits)
{
    const int mantissaBits = 7 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
    const int exponent = static_cast<int>(code & 0x7F) >> mantissaBits;
    const int mantissa = static_cast<int>(code) & ((1 << mantissaBits) - 1);
    const double sign = code & 0x80 ? -1 : 1;
    if (exponentBits == 5 && exponent == 31)
        return mantissa ? NAN : sign * HUGE_VAL;
    if (exponentBits == 4 && (code & 0x7F) == 0x7F)
        return NAN;
    const int whole = exponent ? mantissa + (1 << mantissaBits) : mantissa;
    return sign * std::ldexp(whole, std::max(exponent, 1) - bias - mantissaBits);
}

/// The finite code nearest to x, of two the even one.
unsigned nearestCode(double x, int exponentBits)
{
    if (std::isnan(x))
        return 0x7F;
    unsigned best = 0;
    double distance = HUGE_VAL;
    for (unsigned code = 0; code < 0x80; ++code) {
        const double value = eightBit(code, exponentBits);
        if (!std::isfinite(value))
            continue;
        const double off = std::fabs(std::min(std::fabs(x), 1e6) - value);
        if (off < distance || (off == distance && code % 2 == 0)) {
            best = code;
            distance = off;
        }
    }
    return best | (std::signbit(x) ? 0x80 : 0);
}

TEST(Headers, EightBitFloats)
{
    constexpr std::size_t warp = 32;
    std::mt19937 random(9);
    std::uniform_real_distribution<float> mantissa(-2, 2);
    std::vector<float> x(2 * warp);
    for (float& v : x)
        v = std::ldexp(mantissa(random), static_cast<int>(random() % 28) - 14);
    const float special[] = {0.0f,       -0.0f,   447.0f,  448.0f,   463.9f,    480.0f,   1e9f,    HUGE_VALF,
                             -HUGE_VALF, 1.0625f, 1.1875f, 0x1p-10f, 0x1.8p-9f, 57344.0f, 61440.0f};
    std::ranges::copy(special, x.begin());
    x[20] = NAN;
    std::vector<U16> h(2 * warp), narrow(4 * warp);
    for (std::size_t i = 0; i < 2 * warp; ++i)
        h[i] = floatToHalf(x[i]);
    std::vector<float> wide(512);
    const LaunchResult result = shared("headers").run(
        "fp8", {1, 1, 1}, {warp, 1, 1}, 0, shared("headers").buffer(x, "x"), shared("headers").buffer(h, "h"),
        shared("headers").buffer(narrow, "narrow"), shared("headers").buffer(wide, "wide"), static_cast<int>(warp));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t i = 0; i < 2 * warp; ++i)
        for (unsigned kind = 0; kind < 4; ++kind) {
            const unsigned got = narrow[kind * warp + i / 2] >> (i % 2 * 8) & 255;
            const double from = kind < 2 ? double{x[i]} : double{halfToFloat(h[i])};
            EXPECT_EQ(got, nearestCode(from, kind % 2 ? 5 : 4)) << from << " as kind " << kind;
        }
    for (unsigned code = 0; code < 256; ++code)
        for (const int bits : {4, 5}) {
            const float got = wide[code + (bits == 5 ? 256 : 0)];
            const double wanted = eightBit(code, bits);
            EXPECT_TRUE(std::isnan(wanted) ? std::isnan(got) : got == wanted) << code << ": " << got << ", " << wanted;
        }
}

/// f of each part of two words, by definition: parts are taken as signed or not, the result is cut to the part.
template <class F>
U32 parts(U32 a, U32 b, unsigned bits, bool isSigned, F f)
{
    U32 made = 0;
    for (unsigned at = 0; at < 32; at += bits) {
        const auto take = [&](U32 v) {
            const S32 raw = static_cast<S32>(v >> at & ((1u << bits) - 1));
            return isSigned && raw >> (bits - 1) ? raw - (1 << bits) : raw;
        };
        made |= (static_cast<U32>(f(take(a), take(b))) & ((1u << bits) - 1)) << at;
    }
    return made;
}

U32 summed(U32 v, unsigned bits)
{
    return bits == 8 ? (v & 255) + (v >> 8 & 255) + (v >> 16 & 255) + (v >> 24) : (v & 0xFFFF) + (v >> 16);
}

TEST(Headers, PackedIntegers)
{
    constexpr std::size_t count = 33;
    std::mt19937 random(10);
    std::vector<U32> a(lanes), b(lanes), c(lanes), y(lanes * count);
    for (std::size_t i = 0; i < lanes; ++i) {
        a[i] = random();
        b[i] = i % 7 ? random() : a[i];
        c[i] = random();
    }
    const LaunchResult result = shared("headers").run(
        "simd", {1, 1, 1}, {lanes, 1, 1}, 0, shared("headers").buffer(a, "a"), shared("headers").buffer(b, "b"),
        shared("headers").buffer(c, "c"), shared("headers").buffer(y, "y"), static_cast<int>(lanes));
    ASSERT_FALSE(result.fault) << result.fault->sentence;
    for (std::size_t i = 0; i < lanes; ++i) {
        const U32 p = a[i], q = b[i], r = c[i];
        const auto add = [](S32 x, S32 z) { return x + z; };
        const auto distance = [](S32 x, S32 z) { return std::abs(x - z); };
        const auto least = [](S32 x, S32 z) { return std::min(x, z); };
        const auto most = [](S32 x, S32 z) { return std::max(x, z); };
        const std::uint64_t pair = std::uint64_t{q} << 32 | p;
        U32 reversed = 0, permuted = 0, seen = 0, found = ~0u;
        S32 dot4 = static_cast<S32>(r), dot2 = static_cast<S32>(r);
        for (unsigned k = 0; k < 32; ++k) {
            reversed |= (p >> k & 1) << (31 - k);
            if (k >= 3 && (p >> k & 1) && ++seen == (r & 3) + 1)
                found = k;
        }
        for (unsigned k = 0; k < 4; ++k) {
            permuted |= static_cast<U32>(pair >> (8 * (r >> (4 * k) & 7)) & 255) << (8 * k);
            dot4 += static_cast<std::uint8_t>(p >> (8 * k)) * static_cast<std::uint8_t>(q >> (8 * k));
        }
        for (unsigned k = 0; k < 2; ++k)
            dot2 += static_cast<U16>(p >> (16 * k)) * static_cast<std::uint8_t>(q >> (8 * k));
        const auto mul24 = [](U32 x) { return std::int64_t{static_cast<S32>(x << 8) >> 8}; };
        const U32 wanted[count] = {parts(p, q, 8, false, add),
                                   parts(p, q, 16, false, [](S32 x, S32 z) { return x - z; }),
                                   parts(p, q, 8, false, distance),
                                   parts(p, q, 16, true, distance),
                                   summed(parts(p, q, 8, false, distance), 8),
                                   summed(parts(p, q, 16, true, distance), 16),
                                   parts(p, q, 8, false, [](S32 x, S32 z) { return (x + z + 1) / 2; }),
                                   parts(p, q, 16, true, [](S32 x, S32 z) { return (x + z + (x + z >= 0)) >> 1; }),
                                   parts(p, q, 8, true, [](S32 x, S32 z) { return std::clamp(x + z, -128, 127); }),
                                   parts(p, q, 16, false, [](S32 x, S32 z) { return std::max(x - z, 0); }),
                                   parts(p, q, 8, true, most),
                                   parts(p, q, 16, false, least),
                                   parts(p, q, 8, true, [](S32 x, S32 z) { return x > z ? 255 : 0; }),
                                   parts(p, q, 16, false, [](S32 x, S32 z) { return x == z ? 1 : 0; }),
                                   parts(p, q, 8, true, [](S32 x, S32) { return std::abs(x); }),
                                   parts(p, q, 16, true, [](S32 x, S32) { return x == -32768 ? 32767 : -x; }),
                                   parts(parts(p, q, 16, true, add), r, 16, true, most),
                                   parts(parts(p, q, 16, false, add), r, 16, false, least),
                                   parts(parts(p, q, 16, true, most), r, 16, true, most),
                                   parts(p, q, 16, true, [](S32 x, S32 z) { return std::max(std::min(x, z), 0); }),
                                   permuted,
                                   reversed,
                                   static_cast<U32>(dot4),
                                   static_cast<U32>(dot2),
                                   static_cast<U32>(pair << (r & 31) >> 32),
                                   static_cast<U32>(pair >> std::min(r, 32u)),
                                   found,
                                   p ? static_cast<U32>(std::countr_zero(p)) + 1 : 0,
                                   (p > q ? p - q : q - p) + r,
                                   static_cast<U32>(std::uint64_t{p} * q >> 32),
                                   static_cast<U32>((std::uint64_t{p} + q) >> 1),
                                   static_cast<U32>((std::uint64_t{p} + q + 1) >> 1),
                                   static_cast<U32>(mul24(p) * mul24(q))};
        for (std::size_t k = 0; k < count; ++k)
            EXPECT_EQ(y[k * lanes + i], wanted[k]) << "operation " << k << ", lane " << i;
    }
}

TEST(Headers, WhatCannotRunIsNamedInTheEngineersWords)
{
    const KernelFacts* facts = shared("headers").module().facts("tensor_cores");
    ASSERT_TRUE(facts);
    ASSERT_EQ(facts->unsupported.size(), 3u);
    const std::string source = fixture("headers.cu");
    const auto line = [&](std::string_view text) {
        return 1 + std::ranges::count(source.substr(0, source.find(text)), '\n');
    };
    EXPECT_TRUE(facts->unsupported[0].starts_with("the tensor-core instruction wmma.load"));
    EXPECT_TRUE(facts->unsupported[0].ends_with(
        "(nvcuda::wmma::load_matrix_sync at headers.cu:" + std::to_string(line("load_matrix_sync(a, x")) + ")"))
        << facts->unsupported[0];
    EXPECT_TRUE(facts->unsupported[1].ends_with(
        "(nvcuda::wmma::mma_sync at headers.cu:" + std::to_string(line("mma_sync(c, a")) + ")"))
        << facts->unsupported[1];
}

} // namespace
} // namespace espalier::sim
