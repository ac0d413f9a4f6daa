// SPDX-License-Identifier: Apache-2.0
#include "core/device/ops/ops_cpu.h"

#include "core/device/ops/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace espalier::ops {

namespace {

constexpr double u32 = 5.9604644775390625e-08;

template <typename T>
std::uint64_t addressOf(T& object)
{
    return reinterpret_cast<std::uint64_t>(&object);
}

template <typename Args>
void run(Op op, const Args& args, std::uint64_t count)
{
    runOnCpu(op, std::as_bytes(std::span(&args, 1)), count);
}

std::vector<float> drawn(Distribution distribution, double a, double b, std::size_t count, std::uint64_t seed = 1)
{
    std::vector<float> values(count);
    run(Op::Fill, FillArgs{addressOf(values[0]), seed, 0, DType::F32, distribution, a, b, 0}, count);
    return values;
}

TEST(Fill, normalHasItsMoments)
{
    const auto values = drawn(Distribution::Normal, 3, 2, 200000);
    double sum = 0, squares = 0, fourth = 0;
    for (const float value : values) {
        const double z = (value - 3.0) / 2;
        sum += z, squares += z * z, fourth += z * z * z * z;
    }
    const double n = static_cast<double>(values.size());
    EXPECT_NEAR(sum / n, 0, 0.01);
    EXPECT_NEAR(squares / n, 1, 0.02);
    EXPECT_NEAR(fourth / n, 3, 0.15);
}

TEST(Fill, uniformIntegersAndConstantStayInRange)
{
    for (const float value : drawn(Distribution::Uniform, -1, 1, 50000)) {
        ASSERT_GE(value, -1);
        ASSERT_LT(value, 1);
    }
    const auto integers = drawn(Distribution::Integers, -3, 4, 50000);
    EXPECT_EQ(*std::min_element(integers.begin(), integers.end()), -3);
    EXPECT_EQ(*std::max_element(integers.begin(), integers.end()), 4);
    for (int whole = -3; whole <= 4; ++whole) {
        EXPECT_NEAR(static_cast<double>(std::count(integers.begin(), integers.end(), static_cast<float>(whole))), 6250,
                    400);
    }
    for (const float value : drawn(Distribution::Constant, 2.5, 0, 10)) {
        EXPECT_EQ(value, 2.5f);
    }
}

TEST(Fill, heavyTailSpansItsOctaves)
{
    const auto plain = drawn(Distribution::Normal, 0, 1, 1000);
    const auto heavy = drawn(Distribution::HeavyTail, 1, 4, 1000);
    int seen[9] = {};
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const int octave = static_cast<int>(std::lround(std::log2(heavy[i] / plain[i])));
        ASSERT_LE(std::abs(octave), 4);
        ++seen[octave + 4];
    }
    for (const int count : seen) {
        EXPECT_GT(count, 60);
    }
}

TEST(Fill, anElementDependsOnSeedAndIndexOnly)
{
    const auto whole = drawn(Distribution::Normal, 0, 1, 1000);
    std::vector<float> parts(1000);
    for (std::size_t first = 0; first < 1000; first += 250) {
        run(Op::Fill, FillArgs{addressOf(parts[first]), 1, first, DType::F32, Distribution::Normal, 0, 1, 0}, 250);
    }
    EXPECT_EQ(whole, parts);
    EXPECT_NE(whole, drawn(Distribution::Normal, 0, 1, 1000, 2));
}

TEST(Verify, countsChangedElements)
{
    for (const DType type : {DType::F64, DType::F32, DType::TF32, DType::F16, DType::BF16, DType::FP8E4M3,
                             DType::FP8E5M2, DType::I8, DType::I32, DType::I64, DType::Bool}) {
        std::vector<std::uint64_t> storage(1000);
        std::uint64_t mismatches = 0;
        FillArgs args{addressOf(storage[0]), 5, 100, type, Distribution::Integers, -4, 4, addressOf(mismatches)};
        run(Op::Fill, args, 1000);
        run(Op::Verify, args, 1000);
        EXPECT_EQ(mismatches, 0u);
        auto* bytes = reinterpret_cast<unsigned char*>(storage.data());
        bytes[0] ^= 1;
        bytes[999 * sizeOf(type)] ^= 0x10;
        run(Op::Verify, args, 1000);
        EXPECT_EQ(mismatches, 2u) << static_cast<int>(type);
    }
}

TEST(Poison, isOfItsKind)
{
    std::vector<float> values(1000, 1.0f);
    run(Op::Poison, PoisonArgs{addressOf(values[0]), 1, DType::F32, PoisonKind::NaN}, 1000);
    EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](float v) { return std::isnan(v); }));
    EXPECT_NE(std::bit_cast<std::uint32_t>(values[0]), std::bit_cast<std::uint32_t>(values[1]));
    run(Op::Poison, PoisonArgs{addressOf(values[0]), 1, DType::F32, PoisonKind::Noise}, 1000);
    EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](float v) { return std::abs(v) <= 4; }));
    const auto before = values;
    run(Op::Poison, PoisonArgs{addressOf(values[0]), 1, DType::F32, PoisonKind::Invert}, 1000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), ~std::bit_cast<std::uint32_t>(before[i]));
    }
    for (const DType type : {DType::F16, DType::BF16, DType::FP8E4M3, DType::FP8E5M2, DType::F64, DType::TF32}) {
        std::vector<std::uint64_t> storage(100);
        run(Op::Poison, PoisonArgs{addressOf(storage[0]), 1, type, PoisonKind::NaN}, 8);
        EXPECT_TRUE(isNaN(decode(storage[0] & (~0ull >> (64 - 8 * sizeOf(type))), type))) << static_cast<int>(type);
    }
}

/// A comparison of fp32 outputs with everything in host memory.
struct Comparison {
    std::vector<float> out;
    std::vector<double> reference;
    std::vector<double> scale;
    CompareResult result{};
    PoisonKind poison = PoisonKind::NaN;

    Comparison(std::vector<double> values) : reference(std::move(values)), scale(reference.size())
    {
        for (std::size_t i = 0; i < reference.size(); ++i) {
            out.push_back(static_cast<float>(reference[i]));
            scale[i] = std::abs(reference[i]);
        }
        result.firstFailed = ~0ull;
    }

    const CompareResult& check(std::size_t chunk = ~std::size_t{0})
    {
        for (std::size_t first = 0; first < out.size(); first += std::min(chunk, out.size())) {
            const CompareArgs args{addressOf(out[first]),
                                   addressOf(reference[first]),
                                   addressOf(scale[first]),
                                   addressOf(result),
                                   first,
                                   DType::F32,
                                   u32,
                                   16,
                                   1.1754943508222875e-38,
                                   77,
                                   poison};
            run(Op::Compare, args, std::min(chunk, out.size() - first));
        }
        return result;
    }
};

TEST(Compare, acceptsRoundingAndRejectsMore)
{
    Comparison rounded({1.0 / 3, -2.0 / 7, 1e30 / 3, 0});
    EXPECT_EQ(rounded.check().failed, 0u);
    EXPECT_EQ(rounded.result.compared, 4u);
    EXPECT_LT(rounded.result.worstRatio, 1.0 / 16);
    EXPECT_GT(rounded.result.worstRatio, 0);

    Comparison off({1, 1, 1, 1});
    off.out[2] = static_cast<float>(1 + 15 * u32);
    EXPECT_EQ(off.check().failed, 0u);
    off.out[1] = static_cast<float>(1 + 40 * u32);
    off.result = {};
    off.result.firstFailed = ~0ull;
    EXPECT_EQ(off.check().failed, 1u);
    EXPECT_EQ(off.result.firstFailed, 1u);
    EXPECT_EQ(off.result.worstIndex, 1u);
    EXPECT_NEAR(off.result.worstRatio, 2.5, 1e-6);
    EXPECT_EQ(off.result.worstRef, 1.0);
    EXPECT_NEAR(std::sqrt(off.result.sumSquaredError / off.result.sumSquaredReference), 40 * u32 / 2, 10 * u32);
}

TEST(Compare, zerosUnderASmallReferenceFail)
{
    Comparison zeros({4e-6, 3e-7, 1e-20});
    std::fill(zeros.out.begin(), zeros.out.end(), 0.0f);
    EXPECT_EQ(zeros.check().failed, 3u);
}

TEST(Compare, absoluteErrorCountsOnlyBelowTheSmallestNormal)
{
    Comparison tiny({1e-39, 2e-38});
    tiny.out = {0.0f, 0.0f};
    EXPECT_EQ(tiny.check().failed, 1u);
    EXPECT_EQ(tiny.result.firstFailed, 1u);
}

TEST(Compare, classesMustAgree)
{
    const double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Comparison same({nan, infinity, -infinity, 1e39});
    EXPECT_EQ(same.check().failed, 0u);
    Comparison other({nan, infinity, infinity, 1, 1, 1});
    other.out = {1.0f,
                 -std::numeric_limits<float>::infinity(),
                 3e38f,
                 std::numeric_limits<float>::quiet_NaN(),
                 std::numeric_limits<float>::infinity(),
                 1.0f};
    EXPECT_EQ(other.check().failed, 5u);
    EXPECT_EQ(other.result.nonFinite, 2u);
    EXPECT_EQ(other.result.worstRatio, 1e300);
    EXPECT_EQ(other.result.worstIndex, 0u);
}

TEST(Compare, namesWhatWasNeverWritten)
{
    Comparison partly(std::vector<double>(100, 1.0));
    run(Op::Poison, PoisonArgs{addressOf(partly.out[0]), 77, DType::F32, PoisonKind::NaN}, 100);
    std::fill(partly.out.begin(), partly.out.begin() + 40, 1.0f);
    EXPECT_EQ(partly.check(30).failed, 60u);
    EXPECT_EQ(partly.result.stillPoison, 60u);
    EXPECT_EQ(partly.result.firstFailed, 40u);
}

TEST(Compare, chunksMergeToTheWhole)
{
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i) {
        values.push_back(std::sin(i) * 100);
    }
    Comparison whole(values), chunked(values);
    for (Comparison* each : {&whole, &chunked}) {
        each->out[137] += 1;
        each->out[711] += 5;
    }
    whole.check();
    chunked.check(100);
    EXPECT_EQ(whole.result.failed, 2u);
    EXPECT_EQ(chunked.result.failed, 2u);
    EXPECT_EQ(chunked.result.compared, 1000u);
    EXPECT_EQ(chunked.result.firstFailed, 137u);
    EXPECT_EQ(chunked.result.worstIndex, whole.result.worstIndex);
    EXPECT_EQ(chunked.result.worstRatio, whole.result.worstRatio);
    EXPECT_EQ(chunked.result.worstOut, whole.result.worstOut);
    EXPECT_DOUBLE_EQ(chunked.result.sumSquaredError, whole.result.sumSquaredError);
}

TEST(Band, countsChangedBytes)
{
    std::vector<std::uint8_t> band(333);
    std::uint64_t changed = 0;
    BandArgs args{addressOf(band[0]), 9, addressOf(changed), 1};
    run(Op::Band, args, band.size());
    args.write = 0;
    run(Op::Band, args, band.size());
    EXPECT_EQ(changed, 0u);
    band[0] ^= 1, band[332] ^= 0x80;
    run(Op::Band, args, band.size());
    EXPECT_EQ(changed, 2u);
}

TEST(Hash, feelsEveryWordAndItsPlace)
{
    std::vector<std::uint32_t> words(1000);
    for (std::uint32_t i = 0; i < words.size(); ++i) {
        words[i] = i % 7;
    }
    auto hash = [&](std::uint64_t stride) {
        std::uint64_t result = 0;
        run(Op::Hash, HashArgs{addressOf(words[0]), addressOf(result), stride}, words.size() / stride);
        return result;
    };
    const auto before = hash(1), sampled = hash(10);
    std::swap(words[3], words[4]);
    EXPECT_NE(hash(1), before);
    EXPECT_EQ(hash(10), sampled);
    std::swap(words[3], words[4]);
    EXPECT_EQ(hash(1), before);
}

} // namespace

} // namespace espalier::ops
