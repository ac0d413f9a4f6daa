// SPDX-License-Identifier: Apache-2.0
#include "core/runner/native_call.h"

#include <bit>
#include <cstdint>
#include <gtest/gtest.h>

namespace espalier::runner {
namespace {

struct Seen {
    const float* x;
    float* y;
    std::int64_t rows;
    std::int32_t flag;
    float alpha;
    double beta;
    std::uint8_t small;
    std::uint16_t half;
    void* workspace;
    std::size_t bytes;
    void* stream;
} seen;

int entry(const float* x, float* y, std::int64_t rows, std::int32_t flag, float alpha, double beta, std::uint8_t small,
          std::uint16_t half, void* workspace, std::size_t bytes, void* stream)
{
    seen = {x, y, rows, flag, alpha, beta, small, half, workspace, bytes, stream};
    return -7;
}

std::size_t workspaceSize(std::int64_t rows)
{
    return static_cast<std::size_t>(rows) << 32;
}

TEST(NativeCall, PassesEveryKindOfValue)
{
    Call call;
    call.values = {{ValueKind::Pointer, 0, 16},
                   {ValueKind::Pointer, 1, 0},
                   {ValueKind::I64, 0, static_cast<std::uint64_t>(std::int64_t{-5})},
                   {ValueKind::I32, 0, static_cast<std::uint32_t>(-9)},
                   {ValueKind::F32, 0, std::bit_cast<std::uint32_t>(1.25F)},
                   {ValueKind::F64, 0, std::bit_cast<std::uint64_t>(-2.5)},
                   {ValueKind::U8, 0, 200},
                   {ValueKind::U16, 0, 0x3C00},
                   {ValueKind::Null, 0, 99},
                   {ValueKind::I64, 0, 77},
                   {ValueKind::Stream, 0, 0}};
    const std::uint64_t slots[] = {0x1000, 0x2000};
    int marker = 0;
    const auto native =
        NativeCall::prepare(reinterpret_cast<void*>(&entry), call, slots, &marker, NativeCall::Returns::Int);
    ASSERT_TRUE(native);
    EXPECT_EQ(native->callInt(), -7);
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(seen.x), 0x1010U);
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(seen.y), 0x2000U);
    EXPECT_EQ(seen.rows, -5);
    EXPECT_EQ(seen.flag, -9);
    EXPECT_EQ(seen.alpha, 1.25F);
    EXPECT_EQ(seen.beta, -2.5);
    EXPECT_EQ(seen.small, 200);
    EXPECT_EQ(seen.half, 0x3C00);
    EXPECT_EQ(seen.workspace, nullptr);
    EXPECT_EQ(seen.bytes, 77U);
    EXPECT_EQ(seen.stream, &marker);
}

TEST(NativeCall, ReturnsSizes)
{
    Call call;
    call.values = {{ValueKind::I64, 0, 3}};
    const auto native =
        NativeCall::prepare(reinterpret_cast<void*>(&workspaceSize), call, {}, nullptr, NativeCall::Returns::Size);
    ASSERT_TRUE(native);
    EXPECT_EQ(native->callSize(), std::uint64_t{3} << 32);
}

TEST(NativeCall, RefusesSlotsThatAreNotMapped)
{
    Call call;
    call.values = {{ValueKind::Pointer, 5, 0}};
    EXPECT_FALSE(NativeCall::prepare(reinterpret_cast<void*>(&entry), call, {}, nullptr, NativeCall::Returns::Int));
}

} // namespace
} // namespace espalier::runner
