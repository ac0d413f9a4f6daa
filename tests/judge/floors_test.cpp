// SPDX-License-Identifier: Apache-2.0
#include "core/judge/floors.h"

#include "core/base/file.h"

#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

DeviceInfo h200()
{
    DeviceInfo device;
    device.name = "NVIDIA H200";
    device.smMajor = 9;
    return device;
}

Task taskWith(std::vector<std::string> internal)
{
    Task task;
    task.contract.precision = "f32";
    task.contract.allowedInternal = std::move(internal);
    return task;
}

std::string roofs()
{
    return readFile(ROOFS_FILE).value_or("");
}

TEST(Floors, MatchTheTableOfTargets)
{
    CasePlan softmax; // performance.md: 502 us
    softmax.minimumBytes = std::uint64_t{2} * 4096 * 65536 * 4;
    EXPECT_NEAR(Floors::create(h200(), taskWith({"f32", "f64"}), roofs()).goalUs(softmax), 502, 1);
    CasePlan matmul; // 2144 us on FP32 units, 999 as three TF32 products
    matmul.flops = 2.0 * 4096 * 4096 * 4096;
    EXPECT_NEAR(Floors::create(h200(), taskWith({"f32", "f64"}), roofs()).goalUs(matmul), 2147, 5);
    EXPECT_NEAR(Floors::create(h200(), taskWith({"f32", "tf32"}), roofs()).goalUs(matmul), 999, 2);
}

TEST(Floors, ThePhysicalFloorTakesTheFastestAllowedUnit)
{
    CasePlan matmul;
    matmul.flops = 2.0 * 4096 * 4096 * 4096;
    const double single = Floors::create(h200(), taskWith({"f32"}), roofs()).physicalUs(matmul);
    const double half = Floors::create(h200(), taskWith({"f32", "bf16"}), roofs()).physicalUs(matmul);
    EXPECT_NEAR(single, 2054, 5);
    EXPECT_NEAR(half, 128.3, 1);
}

/// A warm cache may hold the data: then only arithmetic bounds a kernel.
TEST(Floors, BytesCountInTheColdRegimeOnly)
{
    const Floors floors = Floors::create(h200(), taskWith({"f32"}), roofs());
    CasePlan copy;
    copy.minimumBytes = std::uint64_t{1} << 30;
    EXPECT_NEAR(floors.physicalUs(copy, true), 223, 1);
    EXPECT_EQ(floors.physicalUs(copy, false), 0);
    copy.flops = 66.9e12;
    EXPECT_NEAR(floors.physicalUs(copy, false), 1e6, 1);
}

/// Nothing beats DRAM at the peak clock that the driver tells.
TEST(Floors, AnUnknownDeviceHasThatOfItsMemory)
{
    DeviceInfo other = h200();
    other.name = "NVIDIA H100";
    other.peakDramBytesPerSecond = 3.35e12;
    CasePlan plan;
    plan.minimumBytes = 3'350'000'000;
    plan.flops = 66.9e9 * 4; // of units that nobody knows here
    EXPECT_EQ(Floors::create(other, taskWith({"f32"}), roofs()).goalUs(plan), 0);
    EXPECT_NEAR(Floors::create(other, taskWith({"f32"}), roofs()).physicalUs(plan), 1000, 1);
    EXPECT_EQ(Floors::create(other, taskWith({"f32"}), roofs()).physicalUs(plan, false), 0);
}

TEST(Floors, AnUnknownDeviceHasNone)
{
    DeviceInfo other = h200();
    other.name = "NVIDIA H100";
    CasePlan plan;
    plan.minimumBytes = 1 << 30;
    EXPECT_EQ(Floors::create(other, taskWith({"f32"}), roofs()).goalUs(plan), 0);
    EXPECT_EQ(Floors::create(other, taskWith({"f32"}), roofs()).physicalUs(plan), 0);
    EXPECT_EQ(Floors::create(h200(), taskWith({"f32"}), "no json").physicalUs(plan), 0);
    EXPECT_EQ(Floors::create(h200(), taskWith({"f32"}), "[{\"name_contains\": 3}]").physicalUs(plan), 0);
}

} // namespace
} // namespace espalier::judge
