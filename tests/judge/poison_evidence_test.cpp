// SPDX-License-Identifier: Apache-2.0
#include "core/judge/poison_evidence.h"

#include "core/device/ops/ops_impl.h"
#include "core/judge/oracle_comparison.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace espalier::judge {
namespace {

using ops::DType;
using ops::PoisonKind;

constexpr DType narrowTypes[] = {DType::F16, DType::BF16, DType::FP8E4M3, DType::FP8E5M2, DType::I8, DType::Bool};

TEST(PoisonEvidence, NoPatternComesMoreOftenThanSaid)
{
    constexpr std::uint32_t draws = 40'000;
    for (const DType type : narrowTypes)
        for (const PoisonKind kind : {PoisonKind::Noise, PoisonKind::NaN}) {
            std::vector<std::uint32_t> seen(1 << 16);
            for (std::uint64_t i = 0; i < draws; ++i)
                ++seen[ops::drawPoison(77, kind, type, i)];
            const double most = *std::ranges::max_element(seen), expected = coincidence(kind, type) * draws;
            EXPECT_LE(most, expected + 6 * std::sqrt(expected) + 4) << static_cast<int>(type);
            EXPECT_GE(most, expected / 2) << static_cast<int>(type); // nor much more rarely
        }
}

TEST(PoisonEvidence, FewMatchesInNarrowTypesAreChance)
{
    const double half = coincidence(PoisonKind::Noise, DType::F16), bf16 = coincidence(PoisonKind::NaN, DType::BF16);
    EXPECT_TRUE(beyondChance(1, 1, coincidence(PoisonKind::Noise, DType::F32)));
    EXPECT_TRUE(beyondChance(1, 1, coincidence(PoisonKind::NaN, DType::F32)));
    EXPECT_FALSE(beyondChance(1, 1, half));
    EXPECT_TRUE(beyondChance(2, 2, half));
    EXPECT_FALSE(beyondChance(8, 1024, bf16)); // a kernel that writes the usual NaN everywhere
    EXPECT_TRUE(beyondChance(64, 1024, bf16));
    EXPECT_FALSE(beyondChance(520, 1024, coincidence(PoisonKind::NaN, DType::FP8E4M3)));
    EXPECT_TRUE(beyondChance(1024, 1024, coincidence(PoisonKind::NaN, DType::FP8E4M3)));
    EXPECT_FALSE(beyondChance(0, 5, 0.5));
}

/// What is said of a kernel that writes `value` into every element of an output where 1 is right.
std::string saidOf(DType type, Before before, std::uint64_t value, std::uint64_t elements, bool writes)
{
    CasePlan plan;
    plan.arguments.resize(1);
    plan.arguments[0].name = "y";
    plan.arguments[0].type = type;
    plan.arguments[0].shape = {static_cast<std::int64_t>(elements)};
    plan.arguments[0].elements = elements;
    plan.normBounds = {0};
    const PoisonKind kind = before == Before::NaN ? PoisonKind::NaN : PoisonKind::Noise;
    OutputTally tally;
    tally.compared = tally.failed = elements;
    tally.firstFailed = 0;
    for (std::uint64_t i = 0; i < elements; ++i) {
        const std::uint64_t poison = ops::drawPoison(3, kind, type, i);
        tally.stillPoison += !writes || poison == value;
    }
    tally.nonFinite = before == Before::NaN ? elements : 0;
    tally.worstRatio = 40;
    tally.worstRef = 1;
    const auto verdict = OracleComparison::judge(plan, 0, tally, before, "call 1");
    return verdict ? verdict->reason : std::string("right");
}

TEST(PoisonEvidence, OnlyWhatWasLeftIsCalledUnwritten)
{
    const std::uint64_t three[] = {0x4200, 0x4040, 0x44, 0x42}; // 3 in each type: the noise draws it, too
    const std::uint64_t nan[] = {0x7FFF, 0x7FFF, 0x7F, 0x7F};
    const DType types[] = {DType::F16, DType::BF16, DType::FP8E4M3, DType::FP8E5M2};
    for (std::size_t t = 0; t < 4; ++t)
        for (const std::uint64_t elements : {1, 40, 4096, 50'000}) {
            const std::string noise = saidOf(types[t], Before::Noise, three[t], elements, true);
            const std::string strange = saidOf(types[t], Before::NaN, nan[t], elements, true);
            EXPECT_EQ(noise.find("never written"), std::string::npos) << noise;
            EXPECT_EQ(strange.find("never written"), std::string::npos) << strange;
            if (elements < 40)
                continue;
            EXPECT_NE(saidOf(types[t], Before::Noise, 0, elements, false).find("was never written"), std::string::npos);
            EXPECT_NE(saidOf(types[t], Before::NaN, 0, elements, false).find("was never written"), std::string::npos);
        }
}

} // namespace
} // namespace espalier::judge
