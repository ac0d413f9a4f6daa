// SPDX-License-Identifier: Apache-2.0
#include "core/device/ops/ops_cpu.h"

#include "core/device/ops/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>
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

std::vector<float> drawn(Distribution distribution, double a, double b, std::size_t count, std::uint64_t seed = 1,
                         std::uint64_t row = 0)
{
    std::vector<float> values(count);
    run(Op::Fill, FillArgs{addressOf(values[0]), seed, 0, DType::F32, distribution, a, b, 0, row}, count);
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

TEST(Fill, SparseHasItsShareOfZeros)
{
    const auto values = drawn(Distribution::Sparse, 2, 0.9, 100000);
    EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), 0.0f)), 90000, 600);
    double squares = 0;
    for (const float value : values) {
        squares += value * value;
    }
    EXPECT_NEAR(squares / 10000, 4, 0.4);
}

TEST(Fill, TiesAreFewValuesThatTheSeedChooses)
{
    const auto distinct = [](std::uint64_t seed) {
        const auto values = drawn(Distribution::Ties, 1, 3, 5000, seed);
        return std::set<float>(values.begin(), values.end());
    };
    EXPECT_EQ(distinct(1).size(), 3U);
    EXPECT_NE(distinct(1), distinct(2));
}

TEST(Fill, ConstantRowsHoldOneValueEach)
{
    const auto values = drawn(Distribution::ConstantRows, 0, 1, 700, 1, 7);
    std::set<float> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(values[i], values[i / 7 * 7]);
        seen.insert(values[i]);
    }
    EXPECT_EQ(seen.size(), 100U);
}

TEST(Fill, OutlierIsOneInEachRowAtItsOwnPlace)
{
    const auto values = drawn(Distribution::Outlier, 1, 1000, 6400, 1, 64);
    std::set<std::size_t> places;
    std::set<float> signs;
    for (std::size_t row = 0; row < 100; ++row) {
        int hot = 0;
        for (std::size_t c = 0; c < 64; ++c) {
            const float value = values[row * 64 + c];
            if (std::abs(value) > 100) {
                ++hot, places.insert(c), signs.insert(value);
            }
        }
        EXPECT_EQ(hot, 1) << row;
    }
    EXPECT_GT(places.size(), 30U);
    EXPECT_EQ(signs, (std::set<float>{-1000, 1000}));
}

TEST(Fill, SubnormalStaysBelowTheSmallestNormal)
{
    const auto values = drawn(Distribution::Subnormal, 0, 1, 1000);
    int nonzero = 0;
    for (const float value : values) {
        EXPECT_LE(std::abs(value), std::numeric_limits<float>::min());
        nonzero += value != 0;
    }
    EXPECT_EQ(nonzero, 1000);
    EXPECT_LT(*std::min_element(values.begin(), values.end()), 0);
}

TEST(Fill, SignsAndOrderAreAsTheirNamesSay)
{
    for (const float value : drawn(Distribution::HalfNormal, -2, 0, 1000)) {
        EXPECT_LT(value, 0);
    }
    const auto alternating = drawn(Distribution::Alternating, 1, 0, 1000);
    for (std::size_t i = 0; i < alternating.size(); ++i) {
        EXPECT_EQ(alternating[i] < 0, i % 2 == 1) << i;
    }
    for (const double slope : {1.0, -1.0}) {
        const auto sorted = drawn(Distribution::Sorted, 0, slope, 1000, 3, 500);
        for (std::size_t i = 1; i < sorted.size(); ++i) {
            if (i != 500) {
                EXPECT_GE(slope * sorted[i], slope * sorted[i - 1]) << i;
            }
        }
        EXPECT_LT(slope * sorted[500], 0);
        EXPECT_GT(slope * sorted[499], 2);
    }
}

/// Largest magnitude of each of `parts` equal parts.
std::vector<float> profile(const std::vector<float>& values, std::size_t parts)
{
    std::vector<float> largest;
    for (std::size_t p = 0; p < parts; ++p) {
        float most = 0;
        for (std::size_t i = p * values.size() / parts; i < (p + 1) * values.size() / parts; ++i) {
            most = std::max(most, std::abs(values[i]));
        }
        largest.push_back(most);
    }
    return largest;
}

TEST(Fill, MixedRegimesHaveAllScalesWithinOneTensor)
{
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        const auto parts = profile(drawn(Distribution::Mixed, 1, -1, 24000, seed, 2000), 480);
        EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), [](float v) { return v < 1e-3; })) << seed;
        EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), [](float v) { return v > 1 && v < 4.5; })) << seed;
        EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), [](float v) { return v > 8 && v < 45; })) << seed;
        EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), [](float v) { return v > 800; })) << seed;
    }
}

TEST(Fill, TwoMixedRegimesBeginWithTheNominalOne)
{
    for (std::uint64_t seed = 1; seed < 50; ++seed) {
        const auto values = drawn(Distribution::Mixed, 1, 2, 24000, seed, 4000);
        const auto [low, high] = std::minmax_element(values.begin(), values.begin() + 256);
        EXPECT_GT(*low, -6);
        EXPECT_LT(*high, 6);
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        EXPECT_LT(*least, -20); // what the first values are like says nothing about the rest
        EXPECT_GT(*most, 20);
        EXPECT_LT(*most, 50);
    }
}

TEST(Fill, MixedRegimesChangeAtSecretPlaces)
{
    const auto firstLarge = [](std::uint64_t seed) {
        const auto values = drawn(Distribution::Mixed, 1, 3, 24000, seed, 4000);
        return std::find_if(values.begin(), values.end(), [](float v) { return std::abs(v) > 100; }) - values.begin();
    };
    std::set<std::ptrdiff_t> places;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        places.insert(firstLarge(seed));
    }
    EXPECT_GE(places.size(), 38U);
}

TEST(Fill, EveryPropertyIsAFunctionOfSeedAndIndexAlone)
{
    for (const Distribution distribution : {Distribution::Sparse, Distribution::Ties, Distribution::ConstantRows,
                                            Distribution::Outlier, Distribution::Subnormal, Distribution::HalfNormal,
                                            Distribution::Alternating, Distribution::Sorted, Distribution::Mixed}) {
        const auto whole = drawn(distribution, 1, 3, 999, 7, 50);
        std::vector<float> parts(999);
        std::uint64_t mismatches = 0;
        for (std::size_t first = 0; first < 999; first += 333) {
            FillArgs args{addressOf(parts[first]), 7, first, DType::F32, distribution, 1, 3, addressOf(mismatches), 50};
            run(Op::Fill, args, 333);
            run(Op::Verify, args, 333);
        }
        EXPECT_EQ(whole, parts) << static_cast<int>(distribution);
        EXPECT_EQ(mismatches, 0U);
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
    EXPECT_GT(whole.result.sumSquaredScale, 0);
    EXPECT_DOUBLE_EQ(chunked.result.sumSquaredScale, whole.result.sumSquaredScale);
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
