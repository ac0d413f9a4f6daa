// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/roofline.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

/// 100 us on a device with DRAM 4500 of 4800 GB/s, L2 8000, FP32 60 of 67 TFLOP/s, tensor TF32 400 of 500.
Evaluation measured(std::vector<MetricValue> metrics, double timeUs = 100)
{
    Evaluation evaluation;
    CaseTiming timing;
    timing.caseId = "a";
    timing.timeUs = {timeUs, timeUs, timeUs};
    evaluation.timing.emplace().cases = {timing};
    ProfileRecord& profile = evaluation.profile.emplace();
    profile.caseId = "a";
    profile.provenance = Provenance::Measured;
    profile.roofs = {{"dram", 4500, 4800}, {"l2", 8000, 0}, {"f32", 60000, 67000}, {"tensor_tf32", 400000, 500000}};
    evaluation.metrics = std::move(metrics);
    return evaluation;
}

MetricValue value(const char* id, double number)
{
    return {id, number, Provenance::Measured};
}

TEST(RooflineOf, NeedsAProfileATimeAndCounts)
{
    EXPECT_FALSE(rooflineOf(Evaluation{}));
    Evaluation untimed = measured({value("flops_f32", 1e9)});
    untimed.timing.reset();
    EXPECT_FALSE(rooflineOf(untimed));
    EXPECT_FALSE(rooflineOf(measured({})));
}

TEST(RooflineOf, IntensitiesAreOperationsOverBytesOfEachLevel)
{
    const auto line = rooflineOf(measured({value("dram_read_bytes", 200e6), value("dram_write_bytes", 200e6),
                                           value("l2_bytes", 800e6), value("flops_f32", 1e9)}));
    ASSERT_TRUE(line);
    ASSERT_EQ(line->levels.size(), 2U);
    EXPECT_EQ(line->levels[0].id, "dram");
    EXPECT_DOUBLE_EQ(line->levels[0].intensity, 2.5);
    EXPECT_DOUBLE_EQ(line->levels[0].gbs, 4000);
    EXPECT_DOUBLE_EQ(line->levels[1].intensity, 1.25);
    EXPECT_DOUBLE_EQ(line->gflops, 10000);
}

struct BoundCase {
    const char* what;
    std::vector<MetricValue> metrics;
    Bound bound;
    const char* limiter;
    double headroom;
};

TEST(RooflineOf, TheClosestRoofDecides)
{
    const BoundCase cases[] = {
        {"DRAM at 90 %", {value("dram_read_bytes", 405e6), value("flops_f32", 1e8)}, Bound::Memory, "dram", 10},
        {"DRAM at exactly 80 %", {value("dram_read_bytes", 360e6)}, Bound::Memory, "dram", 20},
        {"DRAM just below", {value("dram_read_bytes", 359e6)}, Bound::Latency, "dram", 20.222},
        {"L2 at 95 %", {value("dram_read_bytes", 1e6), value("l2_bytes", 760e6)}, Bound::Memory, "l2", 5},
        {"FP32 at 85 %", {value("dram_read_bytes", 1e6), value("flops_f32", 5.1e9)}, Bound::Compute, "f32", 15},
        {"tensor at 90 %, little FP32",
         {value("flops_f32", 1e9), value("tensor_flops_tf32", 36e9)},
         Bound::Compute,
         "tensor_tf32",
         10},
    };
    for (const BoundCase& one : cases) {
        const auto line = rooflineOf(measured(one.metrics));
        ASSERT_TRUE(line) << one.what;
        EXPECT_EQ(line->bound, one.bound) << one.what << ": " << line->sentence;
        EXPECT_EQ(line->limiter, one.limiter) << one.what;
        EXPECT_NEAR(line->headroomPercent, one.headroom, 0.01) << one.what;
        EXPECT_TRUE(line->checks.empty()) << one.what << ": " << line->checks.front();
    }
}

TEST(RooflineOf, APointAboveItsRoofIsFlagged)
{
    const auto aboveTheory = rooflineOf(measured({value("dram_read_bytes", 490e6)}));
    ASSERT_TRUE(aboveTheory);
    ASSERT_EQ(aboveTheory->checks.size(), 1U);
    EXPECT_NE(aboveTheory->checks[0].find("above the theoretical 4800"), std::string::npos) << aboveTheory->checks[0];
    const auto aboveMeasured = rooflineOf(measured({value("dram_read_bytes", 470e6)}));
    ASSERT_EQ(aboveMeasured->checks.size(), 1U);
    EXPECT_NE(aboveMeasured->checks[0].find("above the measured roof of 4500"), std::string::npos)
        << aboveMeasured->checks[0];
    EXPECT_TRUE(rooflineOf(measured({value("dram_read_bytes", 455e6)}))->checks.empty()); // within a roof's noise
}

TEST(RooflineOf, CountsAreHeldAgainstTheTask)
{
    Evaluation short_ = measured({value("dram_read_bytes", 300e6), value("tensor_flops_tf32", 0.9e9)});
    short_.profile->taskBytes = 400e6;
    short_.profile->taskFlops = 1e9;
    const auto line = rooflineOf(short_);
    ASSERT_EQ(line->checks.size(), 2U);
    EXPECT_NE(line->checks[0].find("though the task moves at least 0.4 GB"), std::string::npos) << line->checks[0];
    EXPECT_NE(line->checks[1].find("the task needs 1e+09"), std::string::npos) << line->checks[1];
    short_.metrics = {value("dram_read_bytes", 396e6), value("tensor_flops_tf32", 1e9)};
    EXPECT_TRUE(rooflineOf(short_)->checks.empty());
}

TEST(RooflineOf, HalfPrecisionMovesAreNoArithmetic)
{
    const auto line = rooflineOf(measured({value("flops_f32", 1e9), value("flops_f16", 9e5)}));
    ASSERT_EQ(line->units.size(), 1U);
    EXPECT_DOUBLE_EQ(line->flops, 1e9);
}

TEST(RooflineOf, ACaseTooSmallToTellPromisesNothing)
{
    const auto tiny = rooflineOf(measured({value("dram_read_bytes", 90e3)}, 4)); // 0.02 us at the roof
    ASSERT_TRUE(tiny);
    EXPECT_EQ(tiny->bound, Bound::Unknown);
    EXPECT_EQ(tiny->headroomPercent, 0);
    EXPECT_EQ(tiny->sentence,
              "the case is too small to tell: at its DRAM roof it would take 0.02 us, and a launch alone "
              "costs about 3 us; look at a larger case");
    // Slow for what it does, or with enough to do: that is the kernel's own.
    EXPECT_EQ(rooflineOf(measured({value("dram_read_bytes", 90e3)}, 100))->bound, Bound::Latency);
    EXPECT_EQ(rooflineOf(measured({value("dram_read_bytes", 18e6)}, 8))->bound, Bound::Latency);
}

TEST(RooflineOf, WithoutRoofsItSaysHowToGetThem)
{
    Evaluation unknown = measured({value("dram_read_bytes", 300e6)});
    unknown.profile->roofs.clear();
    const auto line = rooflineOf(unknown);
    EXPECT_EQ(line->bound, Bound::Unknown);
    EXPECT_NE(line->sentence.find("doctor --roofs"), std::string::npos);
}

} // namespace
} // namespace espalier
