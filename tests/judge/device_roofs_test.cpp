// SPDX-License-Identifier: Apache-2.0
#include "core/judge/device_roofs.h"

#include "core/base/file.h"

#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

DeviceInfo h200()
{
    DeviceInfo device;
    device.name = "NVIDIA H200";
    device.uuid = "GPU-1";
    device.smMajor = 9;
    return device;
}

const Roof* roof(const std::vector<Roof>& roofs, const std::string& id)
{
    for (const Roof& one : roofs) {
        if (one.id == id) {
            return &one;
        }
    }
    return nullptr;
}

TEST(DeviceRoofs, KnownByTheDevicesName)
{
    const std::string known = readFile(ROOFS_FILE).value_or("");
    const auto roofs = deviceRoofs(h200(), "", known);
    ASSERT_NE(roof(roofs, "dram"), nullptr);
    EXPECT_DOUBLE_EQ(roof(roofs, "dram")->theory, 4814);
    EXPECT_DOUBLE_EQ(roof(roofs, "f64")->theory, 33500);        // CUDA cores
    EXPECT_DOUBLE_EQ(roof(roofs, "tensor_f64")->theory, 66900); // matrix units
    EXPECT_DOUBLE_EQ(roof(roofs, "tensor_f16")->measured, 898000);
    DeviceInfo other = h200();
    other.name = "NVIDIA L4";
    EXPECT_TRUE(deviceRoofs(other, "", known).empty());
}

TEST(DeviceRoofs, WhatWasMeasuredHereGoesFirstUnlessItIsAboveTheory)
{
    const std::string measured = R"({"uuid": "GPU-1", "roofs": [{"id": "dram", "measured": 4550, "theory": 4813.8},
        {"id": "l1", "measured": 125000, "theory": 33450}, {"id": "l2", "measured": 8200, "theory": 0}]})";
    const auto roofs = deviceRoofs(h200(), measured, readFile(ROOFS_FILE).value_or(""));
    EXPECT_DOUBLE_EQ(roof(roofs, "dram")->measured, 4550);
    EXPECT_DOUBLE_EQ(roof(roofs, "l2")->measured, 8200);
    EXPECT_EQ(roof(roofs, "l1")->measured, 0) << "a measured roof above its theory is wrong";
    EXPECT_DOUBLE_EQ(roof(roofs, "l1")->theory, 33450);
}

TEST(DeviceRoofs, AnotherDevicesMeasurementIsNotTaken)
{
    const auto roofs =
        deviceRoofs(h200(), R"({"uuid": "GPU-2", "roofs": [{"id": "dram", "measured": 900, "theory": 1000}]})", "");
    EXPECT_TRUE(roofs.empty());
    EXPECT_TRUE(deviceRoofs(h200(), "nonsense", "nonsense").empty());
}

TEST(DeviceRoofs, ASimulatedDevicesAreTheory)
{
    const auto roofs = simulatedRoofs(R"({"dram_bytes_per_second": 4.55e12, "flops_f32_per_second": 63.5e12})");
    ASSERT_EQ(roofs.size(), 2U);
    EXPECT_DOUBLE_EQ(roofs[0].theory, 4550);
    EXPECT_EQ(roofs[0].measured, 0);
}

} // namespace
} // namespace espalier::judge
