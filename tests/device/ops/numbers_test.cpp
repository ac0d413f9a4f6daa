// SPDX-License-Identifier: Apache-2.0
#include "core/device/ops/numbers.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace espalier::ops {

namespace {

template <typename To, typename From>
To bitCopy(const From& from)
{
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}

TEST(Philox, matchesThePublishedAnswers)
{
    const auto zero = philox(0, 0, 0);
    EXPECT_EQ(zero.w[0], 0x6627e8d5u);
    EXPECT_EQ(zero.w[1], 0xe169c58du);
    EXPECT_EQ(zero.w[2], 0xbc57ac4cu);
    EXPECT_EQ(zero.w[3], 0x9b00dbd8u);
    const auto pi = philox(0x85a308d3243f6a88ull, 0x0370734413198a2eull, 0x299f31d0a4093822ull);
    EXPECT_EQ(pi.w[0], 0xd16cfe09u);
    EXPECT_EQ(pi.w[1], 0x94fdccebu);
    EXPECT_EQ(pi.w[2], 0x5001e420u);
    EXPECT_EQ(pi.w[3], 0x24126ea1u);
}

TEST(NaturalLogarithm, agreesWithTheLibrary)
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 100000; ++i) {
        const double x =
            std::ldexp(1 + std::uniform_real_distribution<>()(random), static_cast<int>(random() % 600) - 300);
        EXPECT_NEAR(naturalLogarithm(x), std::log(x), 4e-16 * (1 + std::abs(std::log(x)))) << x;
    }
}

TEST(NormalQuantile, invertsTheDistribution)
{
    std::mt19937_64 random(2);
    for (int i = 0; i < 100000; ++i) {
        const double p = std::uniform_real_distribution<>(1e-12, 1)(random);
        const double z = normalQuantile(p);
        EXPECT_NEAR(0.5 * std::erfc(-z / std::sqrt(2.0)), p, 1e-14 + 1e-13 * p);
    }
    EXPECT_EQ(normalQuantile(0.5), 0);
    EXPECT_NEAR(normalQuantile(0.975), 1.959963984540054, 1e-14);
    EXPECT_NEAR(normalQuantile(1e-300), -37.0471, 1e-3);
}

TEST(SmallFloats, everyCodeSurvivesARoundTrip)
{
    for (const DType type : {DType::F16, DType::BF16, DType::FP8E4M3, DType::FP8E5M2}) {
        for (std::uint64_t code = 0; code < (1ull << (8 * sizeOf(type))); ++code) {
            const double value = decode(code, type);
            if (!std::isnan(value) && !(std::isinf(value) && type == DType::FP8E4M3)) {
                ASSERT_EQ(encode(value, type), code) << static_cast<int>(type);
            }
        }
    }
}

/// Conversions of NVIDIA's headers as the reference: bits near every rounding boundary and at random.
template <typename Convert>
void matchHeaders(DType type, Convert convert)
{
    std::mt19937_64 random(3);
    for (int i = 0; i < 200000; ++i) {
        double value =
            std::ldexp(std::uniform_real_distribution<>(-2, 2)(random), static_cast<int>(random() % 60) - 40);
        if (i % 4 == 0) {
            // Exactly between two codes, and one step beside it.
            const std::uint64_t code = random() % ((1ull << (8 * sizeOf(type) - 1)) - 2);
            value = (decode(code, type) + decode(code + 1, type)) / 2;
            value = i % 8 == 0 ? value : std::nextafter(value, 10 * value);
        }
        if (!std::isfinite(value)) {
            continue;
        }
        ASSERT_EQ(encode(value, type), convert(value)) << value << " as type " << static_cast<int>(type);
    }
}

TEST(SmallFloats, roundAsTheHeadersDo)
{
    matchHeaders(DType::F16, [](double v) { return bitCopy<std::uint16_t>(__double2half(v)); });
    matchHeaders(DType::BF16, [](double v) { return bitCopy<std::uint16_t>(__double2bfloat16(v)); });
    matchHeaders(DType::FP8E4M3, [](double v) { return __nv_cvt_double_to_fp8(v, __NV_SATFINITE, __NV_E4M3); });
    matchHeaders(DType::FP8E5M2, [](double v) { return __nv_cvt_double_to_fp8(v, __NV_NOSAT, __NV_E5M2); });
}

TEST(Encode, integersRoundToEvenAndSaturate)
{
    EXPECT_EQ(decode(encode(2.5, DType::I32), DType::I32), 2);
    EXPECT_EQ(decode(encode(3.5, DType::I32), DType::I32), 4);
    EXPECT_EQ(decode(encode(-2.5, DType::I32), DType::I32), -2);
    EXPECT_EQ(decode(encode(-2.6, DType::I8), DType::I8), -3);
    EXPECT_EQ(decode(encode(1e9, DType::I8), DType::I8), 127);
    EXPECT_EQ(decode(encode(-1e9, DType::I8), DType::I8), -128);
    EXPECT_EQ(static_cast<std::int64_t>(encode(1e30, DType::I64)), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(static_cast<std::int64_t>(encode(-1e30, DType::I64)), std::numeric_limits<std::int64_t>::min());
}

TEST(Encode, tf32HasTenMantissaBits)
{
    EXPECT_EQ(encode(1.0, DType::TF32) & 0x1FFF, 0u);
    EXPECT_EQ(decode(encode(1.0 + 1.0 / 1024, DType::TF32), DType::TF32), 1.0 + 1.0 / 1024);
    EXPECT_EQ(decode(encode(1.0 + 1.0 / 2048, DType::TF32), DType::TF32), 1.0); // a tie goes to even
    EXPECT_EQ(decode(encode(1.0 + 1.1 / 2048, DType::TF32), DType::TF32), 1.0 + 1.0 / 1024);
}

} // namespace

} // namespace espalier::ops
