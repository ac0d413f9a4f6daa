// SPDX-License-Identifier: Apache-2.0
// Single instructions on handwritten PTX.
#include "tests/device/sim/sim_support.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace espalier::sim {
namespace {

/// What lane 0 gets from instructions that leave a 64-bit value in %rd1.
std::uint64_t value64(std::string_view body)
{
    return runSnippet(fmt::format("{}\n st.global.u64 [%rd0], %rd1;\n", body))[0];
}
std::uint32_t value32(std::string_view body)
{
    return static_cast<std::uint32_t>(runSnippet(fmt::format("{}\n st.global.u32 [%rd0], %r1;\n", body))[0]);
}
float valueF(std::string_view body)
{
    return std::bit_cast<float>(
        static_cast<std::uint32_t>(runSnippet(fmt::format("{}\n st.global.f32 [%rd0], %f1;\n", body))[0]));
}
double valueD(std::string_view body)
{
    return std::bit_cast<double>(runSnippet(fmt::format("{}\n st.global.f64 [%rd0], %fd1;\n", body))[0]);
}
std::uint32_t value16(std::string_view body)
{
    return static_cast<std::uint32_t>(runSnippet(fmt::format("{}\n st.global.u16 [%rd0], %rs1;\n", body))[0]);
}
std::string f32(float x)
{
    return fmt::format("0f{:08X}", std::bit_cast<std::uint32_t>(x));
}

TEST(Instructions, IntegerArithmetic)
{
    EXPECT_EQ(value32("mov.u32 %r2, 0xFFFFFFF0; add.u32 %r1, %r2, 0x20;"), 0x10u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x7FFFFFF0; add.sat.s32 %r1, %r2, 0x20;"), 0x7FFFFFFFu);
    EXPECT_EQ(value32("mov.u32 %r2, 7; mul.hi.u32 %r1, %r2, 0xF0000000;"), 6u);
    EXPECT_EQ(value32("mov.u32 %r2, -7; mul.hi.s32 %r1, %r2, 0x10000000;"), 0xFFFFFFFFu);
    EXPECT_EQ(value64("mov.u32 %r2, -7; mul.wide.s32 %rd1, %r2, 3;"), static_cast<std::uint64_t>(-21));
    EXPECT_EQ(value64("mov.u32 %r2, -7; mov.u64 %rd2, 5; mad.wide.u32 %rd1, %r2, 3, %rd2;"), 0xFFFFFFF9ull * 3 + 5);
    EXPECT_EQ(value32("mov.u16 %rs2, 0xFFFF; mov.u16 %rs3, 3; mul.wide.u16 %r1, %rs2, %rs3;"), 0x2FFFDu);
    EXPECT_EQ(value32("mov.u32 %r2, -7; div.s32 %r1, %r2, 2;"), static_cast<std::uint32_t>(-3));
    EXPECT_EQ(value32("mov.u32 %r2, -7; rem.s32 %r1, %r2, 4;"), static_cast<std::uint32_t>(-3));
    EXPECT_EQ(value32("mov.u32 %r2, 0x80000000; div.s32 %r1, %r2, -1;"), 0x80000000u);
    EXPECT_EQ(value32("mov.u32 %r2, 5; mov.u32 %r3, 0; div.u32 %r1, %r2, %r3;"), 0xFFFFFFFFu);
    EXPECT_EQ(value32("mov.u32 %r2, 5; mov.u32 %r3, -9; sad.s32 %r1, %r2, %r3, 100;"), 114u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x1234567; mul24.lo.u32 %r1, %r2, 0x10;"), 0x2345670u);
    EXPECT_EQ(value32("mov.u32 %r2, 0xFFFFFFFF; add.cc.u32 %r3, %r2, 1; addc.u32 %r1, %r2, 5;"), 5u);
    EXPECT_EQ(value32("mov.u32 %r2, 0; sub.cc.u32 %r3, %r2, 1; subc.u32 %r1, %r2, 5;"), static_cast<std::uint32_t>(-6));
}

TEST(Instructions, Bits)
{
    EXPECT_EQ(value32("mov.u32 %r2, 1; shl.b32 %r1, %r2, 40;"), 0u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x80000000; shr.s32 %r1, %r2, 99;"), 0xFFFFFFFFu);
    EXPECT_EQ(value32("mov.u32 %r2, 0x80000000; shr.u32 %r1, %r2, 31;"), 1u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x12345678; bfe.u32 %r1, %r2, 8, 12;"), 0x456u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x12348678; bfe.s32 %r1, %r2, 8, 8;"), 0xFFFFFF86u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x12348678; bfe.s32 %r1, %r2, 28, 8;"), 1u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x92348678; bfe.s32 %r1, %r2, 28, 8;"), 0xFFFFFFF9u);
    EXPECT_EQ(value32("mov.u32 %r2, 0xFF; mov.u32 %r3, 0x11111111; bfi.b32 %r1, %r2, %r3, 4, 8;"), 0x11111FF1u);
    EXPECT_EQ(value64("mov.u64 %rd2, 0xF; mov.u64 %rd3, 0; bfi.b64 %rd1, %rd2, %rd3, 60, 8;"), 0xF000000000000000ull);
    EXPECT_EQ(value32("mov.u32 %r2, 0xF0F0; popc.b32 %r1, %r2;"), 8u);
    EXPECT_EQ(value32("mov.u32 %r2, 0; clz.b32 %r1, %r2;"), 32u);
    EXPECT_EQ(value32("mov.u64 %rd2, 1; clz.b64 %r1, %rd2;"), 63u);
    EXPECT_EQ(value32("mov.u32 %r2, 1; brev.b32 %r1, %r2;"), 0x80000000u);
    EXPECT_EQ(value32("mov.u32 %r2, -2; bfind.s32 %r1, %r2;"), 0u);
    EXPECT_EQ(value32("mov.u32 %r2, 0; bfind.u32 %r1, %r2;"), 0xFFFFFFFFu);
    EXPECT_EQ(value32("mov.u32 %r2, 0x10; bfind.shiftamt.u32 %r1, %r2;"), 27u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x33221100; mov.u32 %r3, 0x77665544; prmt.b32 %r1, %r2, %r3, 0x7531;"),
              0x77553311u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x00008000; prmt.b32 %r1, %r2, 0, 0x99A9;"), 0xFFFF00FFu);
    EXPECT_EQ(value32("mov.u32 %r2, 0xF0; mov.u32 %r3, 0xCC; mov.u32 %r4, 0xAA; lop3.b32 %r1, %r2, %r3, %r4, 0x96;"),
              0xF0u ^ 0xCCu ^ 0xAAu);
    EXPECT_EQ(value32("mov.u32 %r2, 0x80000001; mov.u32 %r3, 0x7; shf.l.wrap.b32 %r1, %r2, %r3, 33;"), 0xFu);
    EXPECT_EQ(value32("mov.u32 %r2, 0x80000001; mov.u32 %r3, 0x7; shf.r.clamp.b32 %r1, %r2, %r3, 40;"), 7u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x01FF0203; mov.u32 %r3, 0x02020202; dp4a.s32.u32 %r1, %r2, %r3, 10;"), 20u);
    EXPECT_EQ(value64("mov.u32 %r2, 1; mov.u32 %r3, 2; mov.b64 %rd1, {%r2, %r3};"), 0x200000001ull);
    EXPECT_EQ(value32("mov.u64 %rd1, 0x500000004; {.reg .b32 %t; mov.b64 {%t, %r1}, %rd1;}"), 5u);
    EXPECT_EQ(value32("mov.u32 %r2, 0; cnot.b32 %r1, %r2;"), 1u);
}

TEST(Instructions, Predicates)
{
    const auto lanes = runSnippet("setp.lt.u32 %p1|%p2, %r0, 5;\n and.pred %p3, %p1, %p2;\n or.pred %p4, %p1, %p2;\n"
                                  "setp.eq.and.u32 %p5, %r0, 3, %p1;\n setp.ne.or.u32 %p6, %r0, 3, !%p4;\n"
                                  "selp.u32 %r1, 1, 0, %p1;\n selp.u32 %r2, 2, 0, %p3;\n selp.u32 %r3, 4, 0, %p4;\n"
                                  "selp.u32 %r4, 8, 0, %p5;\n selp.u32 %r5, 16, 0, %p6;\n not.pred %p7, %p5;\n"
                                  "mov.u32 %r6, 0;\n @!%p7 mov.u32 %r6, 32;\n"
                                  "or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3; or.b32 %r1, %r1, %r4;"
                                  "or.b32 %r1, %r1, %r5; or.b32 %r1, %r1, %r6; st.global.u32 [%rd0], %r1;");
    for (std::uint32_t l = 0; l < 32; ++l) {
        const std::uint64_t wanted = (l < 5 ? 1 : 0) + 4u + (l == 3 ? 8 + 32 : 0) + (l != 3 ? 16 : 0);
        EXPECT_EQ(lanes[l], wanted) << l;
    }
    EXPECT_EQ(value32("mov.f32 %f2, 0f7FC00000; set.ltu.u32.f32 %r1, %f2, 0f00000000;"), 0xFFFFFFFFu);
    EXPECT_EQ(valueF("mov.f32 %f2, 0f7FC00000; set.lt.f32.f32 %f1, %f2, 0f00000000;"), 0.0f);
    EXPECT_EQ(value32("mov.f32 %f2, 0f00000001; testp.subnormal.f32 %p1, %f2; selp.u32 %r1, 1, 0, %p1;"), 1u);
    EXPECT_EQ(value32("mov.u32 %r2, -1; slct.u32.s32 %r1, 5, 6, %r2;"), 6u);
}

TEST(Instructions, FloatRoundingModes)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<float> values(-100, 100);
    const struct {
        const char* name;
        int mode;
    } modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
    for (int round = 0; round < 4; ++round) {
        for (const auto& [name, mode] : modes) {
            volatile float a = values(random), b = values(random), c = values(random);
            std::fesetround(mode);
            volatile float sum = a + b, product = a * b, quotient = a / b, fused = std::fma(a, b, c);
            volatile double wide = static_cast<double>(a) / static_cast<double>(c);
            std::fesetround(FE_TONEAREST);
            EXPECT_EQ(valueF(fmt::format("mov.f32 %f2, {}; add.{}.f32 %f1, %f2, {};", f32(a), name, f32(b))), sum);
            EXPECT_EQ(valueF(fmt::format("mov.f32 %f2, {}; mul.{}.f32 %f1, %f2, {};", f32(a), name, f32(b))), product);
            EXPECT_EQ(valueF(fmt::format("mov.f32 %f2, {}; div.{}.f32 %f1, %f2, {};", f32(a), name, f32(b))), quotient);
            EXPECT_EQ(
                valueF(fmt::format("mov.f32 %f2, {}; fma.{}.f32 %f1, %f2, {}, {};", f32(a), name, f32(b), f32(c))),
                fused);
            EXPECT_EQ(
                valueD(fmt::format("mov.f32 %f2, {}; cvt.f64.f32 %fd2, %f2; mov.f32 %f3, {}; cvt.f64.f32 %fd3, %f3;"
                                   "div.{}.f64 %fd1, %fd2, %fd3;",
                                   f32(a), f32(c), name)),
                wide);
        }
    }
}

TEST(Instructions, FloatSpecials)
{
    EXPECT_TRUE(std::signbit(valueF("mov.f32 %f2, 0f00000000; min.f32 %f1, %f2, 0f80000000;")));
    EXPECT_FALSE(std::signbit(valueF("mov.f32 %f2, 0f80000000; max.f32 %f1, %f2, 0f00000000;")));
    EXPECT_EQ(valueF("mov.f32 %f2, 0f7FC00000; max.f32 %f1, %f2, 0f40000000;"), 2.0f);
    EXPECT_TRUE(std::isnan(valueF("mov.f32 %f2, 0f7FC00000; max.NaN.f32 %f1, %f2, 0f40000000;")));
    EXPECT_EQ(valueF("mov.f32 %f2, 0f00000001; add.ftz.f32 %f1, %f2, 0f00000000;"), 0.0f);
    EXPECT_GT(valueF("mov.f32 %f2, 0f00000001; add.f32 %f1, %f2, 0f00000000;"), 0.0f);
    EXPECT_EQ(valueF("mov.f32 %f2, 0f40000000; mul.sat.f32 %f1, %f2, 0f40000000;"), 1.0f);
    EXPECT_EQ(valueF("mov.f32 %f2, 0f7FC00000; cvt.sat.f32.f32 %f1, %f2;"), 0.0f);
    EXPECT_EQ(valueF("mov.f32 %f2, 0fBF800000; mov.f32 %f3, 0f40400000; copysign.f32 %f1, %f2, %f3;"), -3.0f);
    EXPECT_EQ(valueF("mov.f32 %f2, 0f40000000; rcp.rn.f32 %f1, %f2;"), 0.5f);
    EXPECT_EQ(valueF("mov.f32 %f2, 0f40000000; sqrt.rn.f32 %f1, %f2;"), std::sqrt(2.0f));
}

/// Worst relative error of an approximation over a range.
double worst(std::string_view op, double low, double high, double (*exact)(double))
{
    double largest = 0;
    for (int k = 0; k < 8; ++k) {
        std::string body;
        const double start = low + (high - low) * k / 8, step = (high - low) / 256;
        body =
            fmt::format("cvt.rn.f32.u32 %f2, %r0; fma.rn.f32 %f2, %f2, {}, {}; {} %f1, %f2;"
                        "mov.b32 %r1, %f1; mov.b32 %r2, %f2; mov.b64 %rd1, {{%r1, %r2}}; st.global.u64 [%rd0], %rd1;",
                        f32(static_cast<float>(step)), f32(static_cast<float>(start)), op);
        for (const std::uint64_t bits : runSnippet(body)) {
            const float got = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
            const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32));
            const double wanted = exact(x);
            largest = std::max(largest, std::fabs(got - wanted) / std::max(std::fabs(wanted), 1e-30));
        }
    }
    return largest;
}

TEST(Instructions, ApproximationsKeepTheirBounds)
{
    EXPECT_LT(worst("ex2.approx.f32", -30, 30, [](double x) { return std::exp2(x); }), std::exp2(-22));
    EXPECT_LT(worst("ex2.approx.ftz.f32", -1, 1, [](double x) { return std::exp2(x); }), std::exp2(-22));
    EXPECT_LT(worst("lg2.approx.f32", 2.5, 900, [](double x) { return std::log2(x); }), std::exp2(-22));
    EXPECT_LT(worst("rcp.approx.ftz.f32", 0.1, 50, [](double x) { return 1 / x; }), std::exp2(-22));
    EXPECT_LT(worst("rsqrt.approx.f32", 0.1, 50, [](double x) { return 1 / std::sqrt(x); }), std::exp2(-22));
    EXPECT_LT(worst("sqrt.approx.f32", 0.1, 50, [](double x) { return std::sqrt(x); }), std::exp2(-22));
    EXPECT_LT(worst("tanh.approx.f32", 0.1, 4, [](double x) { return std::tanh(x); }), std::exp2(-11));
    EXPECT_EQ(valueF("mov.f32 %f2, 0fC3160000; ex2.approx.f32 %f1, %f2;"), 0.0f); // 2^-150
    EXPECT_EQ(valueF("mov.f32 %f2, 0fC3150000; ex2.approx.f32 %f1, %f2;"), std::exp2(-149.0f));
    EXPECT_EQ(valueF("mov.f32 %f2, 0fFF800000; ex2.approx.f32 %f1, %f2;"), 0.0f);
    EXPECT_EQ(valueF("mov.f32 %f2, 0f43000000; ex2.approx.f32 %f1, %f2;"), HUGE_VALF);
    EXPECT_EQ(valueF("mov.f32 %f2, 0f40400000; ex2.approx.f32 %f1, %f2;"), 8.0f);
    EXPECT_TRUE(std::isnan(valueF("mov.f32 %f2, 0f7FC00000; ex2.approx.f32 %f1, %f2;")));
}

TEST(Instructions, Conversions)
{
    EXPECT_EQ(value32("mov.f32 %f2, 0fC0200000; cvt.rni.s32.f32 %r1, %f2;"), static_cast<std::uint32_t>(-2)); // -2.5
    EXPECT_EQ(value32("mov.f32 %f2, 0fC0200000; cvt.rzi.s32.f32 %r1, %f2;"), static_cast<std::uint32_t>(-2));
    EXPECT_EQ(value32("mov.f32 %f2, 0fC0200000; cvt.rmi.s32.f32 %r1, %f2;"), static_cast<std::uint32_t>(-3));
    EXPECT_EQ(value32("mov.f32 %f2, 0fC0200000; cvt.rpi.s32.f32 %r1, %f2;"), static_cast<std::uint32_t>(-2));
    EXPECT_EQ(value32("mov.f32 %f2, 0fC0200000; cvt.rzi.u32.f32 %r1, %f2;"), 0u);
    EXPECT_EQ(value32("mov.f32 %f2, 0f7F800000; cvt.rzi.s32.f32 %r1, %f2;"), 0x7FFFFFFFu);
    EXPECT_EQ(value32("mov.f32 %f2, 0f7FC00000; cvt.rzi.s32.f32 %r1, %f2;"), 0u);
    EXPECT_EQ(value64("mov.f32 %f2, 0f5F800000; cvt.rzi.u64.f32 %rd1, %f2;"), ~std::uint64_t{0});
    EXPECT_EQ(valueF("mov.u32 %r2, 0x01000001; cvt.rn.f32.u32 %f1, %r2;"), 16777216.0f);
    EXPECT_EQ(valueF("mov.u32 %r2, 0x01000001; cvt.rp.f32.u32 %f1, %r2;"), 16777218.0f);
    EXPECT_EQ(valueF("mov.u32 %r2, 0xFEFFFFFF; cvt.rz.f32.s32 %f1, %r2;"), -16777216.0f);
    EXPECT_EQ(value16("mov.u32 %r2, 0x12345; cvt.u16.u32 %rs1, %r2;"), 0x2345u);
    EXPECT_EQ(value16("mov.u32 %r2, 0x12345; cvt.sat.u16.u32 %rs1, %r2;"), 0xFFFFu);
    EXPECT_EQ(value32("mov.u16 %rs2, 0x00F0; cvt.s32.s8 %r1, %rs2;"), 0xFFFFFFF0u);
    EXPECT_EQ(value32("mov.u32 %r2, 0x1F0; cvt.u32.u8 %r1, %r2;"), 0xF0u);
    EXPECT_EQ(value64("mov.u32 %r2, -3; cvt.s64.s32 %rd1, %r2;"), static_cast<std::uint64_t>(-3));
    EXPECT_EQ(valueF("mov.f64 %fd2, 0d3FF0000010000001; cvt.rn.f32.f64 %f1, %fd2;"), 1.0000001f);
    EXPECT_EQ(valueF("mov.f64 %fd2, 0d3FF0000010000001; cvt.rz.f32.f64 %f1, %fd2;"), 1.0f);
    EXPECT_EQ(value16("mov.f32 %f2, 0f3F801000; cvt.rn.f16.f32 %rs1, %f2;"), 0x3C00u); // a tie: to even
    EXPECT_EQ(value16("mov.f32 %f2, 0f3F801000; cvt.rp.f16.f32 %rs1, %f2;"), 0x3C01u);
    EXPECT_EQ(value16("mov.f32 %f2, 0f477FF000; cvt.rn.f16.f32 %rs1, %f2;"), 0x7C00u);
    EXPECT_EQ(value16("mov.f32 %f2, 0f477FF000; cvt.rz.f16.f32 %rs1, %f2;"), 0x7BFFu);
    EXPECT_EQ(value16("mov.f32 %f2, 0f33000001; cvt.rn.f16.f32 %rs1, %f2;"), 0x0001u); // subnormal
    EXPECT_EQ(valueF("mov.b16 %rs2, 0x0001; cvt.f32.f16 %f1, %rs2;"), std::exp2(-24.0f));
    EXPECT_EQ(value16("mov.f32 %f2, 0f3F808000; cvt.rn.bf16.f32 %rs1, %f2;"), 0x3F80u);
    EXPECT_EQ(value16("mov.f32 %f2, 0f3F808001; cvt.rn.bf16.f32 %rs1, %f2;"), 0x3F81u);
    EXPECT_EQ(value32("mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f40000000; cvt.rn.f16x2.f32 %r1, %f2, %f3;"),
              0x3C004000u);
    EXPECT_EQ(value32("mov.f32 %f2, 0f3F801000; cvt.rna.tf32.f32 %r1, %f2;"), 0x3F802000u);
    EXPECT_EQ(valueF("mov.f32 %f2, 0f3FC00000; cvt.rni.f32.f32 %f1, %f2;"), 2.0f);
    EXPECT_EQ(value32("mov.u32 %r2, 70000; mov.u32 %r3, -70000; cvt.pack.sat.s16.s32 %r1, %r2, %r3;"), 0x7FFF8000u);
}

TEST(Instructions, Halves)
{
    EXPECT_EQ(value16("mov.b16 %rs2, 0x3C00; mov.b16 %rs3, 0x0C00; add.f16 %rs1, %rs2, %rs3;"), 0x3C00u);
    EXPECT_EQ(value32("mov.b32 %r2, 0x3C004000; mul.f16x2 %r1, %r2, %r2;"), 0x3C004400u);
    // (1 + 3/1024)^2 - 1: rounding the product first would lose its last 9 * 2^-20 and give 0x1E00.
    EXPECT_EQ(value16("mov.b16 %rs2, 0x3C03; mov.b16 %rs3, 0xBC00; fma.rn.f16 %rs1, %rs2, %rs2, %rs3;"), 0x1E02u);
    EXPECT_EQ(value16("mov.b16 %rs2, 0xBC00; fma.rn.relu.f16 %rs1, %rs2, %rs2, %rs2;"), 0u);
    EXPECT_EQ(value32("mov.b32 %r2, 0x3F804000; mov.b32 %r3, 0x40003F80; max.bf16x2 %r1, %r2, %r3;"), 0x40004000u);
    EXPECT_EQ(
        value32("mov.b16 %rs2, 0x3C00; mov.b16 %rs3, 0x3C01; setp.lt.f16 %p1, %rs2, %rs3; selp.u32 %r1, 1, 0, %p1;"),
        1u);
}

TEST(Instructions, Memory)
{
    EXPECT_EQ(value32("mov.u64 %rd2, numbers; ld.global.s8 %r1, [%rd2+1];"), 2u);
    EXPECT_EQ(value64("ld.global.u64 %rd1, [numbers+8];"), 0x100F0E0D0C0B0A09ull);
    EXPECT_EQ(value32("mov.u64 %rd2, numbers; ld.global.v4.u8 {%r1, %r2, %r3, %r4}, [%rd2+4]; shl.b32 %r4, %r4, 8;"
                      "or.b32 %r1, %r1, %r4;"),
              0x805u);
    EXPECT_EQ(value64("mov.u64 %rd2, numbers; ld.global.nc.L1::no_allocate.L2::128B.v2.u64 {%rd3, %rd1}, [%rd2];"),
              0x100F0E0D0C0B0A09ull);
    EXPECT_EQ(
        value32(".local .align 8 .b8 box[256]; mov.u64 %rd2, box; cvta.local.u64 %rd3, %rd2; mul.wide.u32 %rd4, %r0, 8;"
                "add.u64 %rd3, %rd3, %rd4; add.u32 %r2, %r0, 7; st.u32 [%rd3], %r2; add.u64 %rd2, %rd2, %rd4;"
                "ld.local.u32 %r1, [%rd2];"),
        7u);
    EXPECT_EQ(value32(".shared .align 4 .b8 box[128]; mov.u32 %r2, box; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3;"
                      "st.shared.u32 [%r2], %r0; cvt.u64.u32 %rd2, %r2; cvta.shared.u64 %rd2, %rd2;"
                      "isspacep.shared %p1, %rd2; xor.b64 %rd3, %rd2, 124; ld.u32 %r1, [%rd3]; @!%p1 mov.u32 %r1, 99;"),
              31u);
    EXPECT_EQ(value32("{ .param .align 4 .b8 p[8]; st.param.b32 [p+4], 77; ld.param.b32 %r1, [p+4]; }"), 77u);
}

TEST(Instructions, CopiesWaitForTheirGroup)
{
    const char* body =
        ".shared .align 16 .b8 box[64]; mov.u32 %r2, box; mov.u64 %rd2, numbers; setp.eq.u32 %p1, %r0, 0;"
        "@%p1 st.shared.u32 [box], 0; @%p1 st.shared.u32 [box+16], 5;"
        "@%p1 cp.async.ca.shared.global [%r2], [%rd2], 4; cp.async.commit_group;"
        "@%p1 cp.async.cg.shared.global.L2::128B [%r2+16], [%rd2], 16, 2; cp.async.commit_group;"
        "cp.async.wait_group {}; ld.shared.u32 %r3, [box]; ld.shared.u32 %r4, [box+16]; mov.b64 %rd1, {{%r3, %r4}};";
    EXPECT_EQ(value64(fmt::format(fmt::runtime(body), 2)), 0x0000000500000000ull);
    EXPECT_EQ(value64(fmt::format(fmt::runtime(body), 1)), 0x0000000504030201ull);
    EXPECT_EQ(value64(fmt::format(fmt::runtime(body), 0)), 0x0000020104030201ull);
}

TEST(Instructions, IndirectBranch)
{
    const auto lanes = runSnippet("and.b32 %r1, %r0, 3; mov.u32 %r2, 100;\n"
                                  "ts: .branchtargets a, b, c;\n brx.idx %r1, ts;\n"
                                  "a: add.u32 %r2, %r2, 1; bra.uni end;\n b: add.u32 %r2, %r2, 2; bra.uni end;\n"
                                  "c: add.u32 %r2, %r2, 3;\n end: st.global.u32 [%rd0], %r2;\n");
    for (std::uint32_t l = 0; l < 32; ++l)
        EXPECT_EQ(lanes[l], 101u + std::min(l & 3, 2u)) << l;
}

} // namespace
} // namespace espalier::sim
