// SPDX-License-Identifier: Apache-2.0
#include "core/judge/device_monitor.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace espalier::judge {
namespace {

class WatchedDevice : public ::testing::Test
{
protected:
    void SetUp() override { ::setenv("ESPALIER_LIBNVML", FAKE_NVML, 1); }
    void TearDown() override
    {
        ::unsetenv("ESPALIER_LIBNVML");
        ::unsetenv("ESPALIER_FAKE_NVML");
    }
};

TEST_F(WatchedDevice, EverythingIsReadAnew)
{
    ::setenv("ESPALIER_FAKE_NVML", "sm=1980,900 memory=2619 power=412500 temperature=51 reasons=4,64", 1);
    const auto monitor = openDeviceMonitor("GPU-1");
    EXPECT_EQ(monitor->name(), "NVML 999.1");
    const BlockConditions first = monitor->read();
    EXPECT_EQ(first.smMhz, 1980);
    EXPECT_EQ(first.memoryMhz, 2619);
    EXPECT_EQ(first.powerWatts, 412.5);
    EXPECT_EQ(first.temperature, 51);
    EXPECT_EQ(first.throttleReasons, 4);
    EXPECT_EQ(first.foreignProcesses, 0); // the judge itself is none
    const BlockConditions second = monitor->read();
    EXPECT_EQ(second.smMhz, 900);
    EXPECT_EQ(second.throttleReasons, 64);
}

TEST_F(WatchedDevice, OtherProcessesAreCounted)
{
    ::setenv("ESPALIER_FAKE_NVML", "sm=1980 memory=2619 foreign=2", 1);
    const BlockConditions now = openDeviceMonitor("GPU-1")->read();
    EXPECT_EQ(now.foreignProcesses, 2);
    EXPECT_EQ(now.throttleReasons, -1); // not read: not known
    EXPECT_EQ(now.powerWatts, -1);
    EXPECT_EQ(disturbance(now, 1980), "foreign process");
}

TEST_F(WatchedDevice, WithoutTheLibraryItSaysWhy)
{
    ::setenv("ESPALIER_LIBNVML", "/nowhere/libnvidia-ml.so.1", 1);
    const auto blind = openDeviceMonitor("GPU-1");
    EXPECT_EQ(blind->name(), "none: /nowhere/libnvidia-ml.so.1 can't be loaded");
    EXPECT_EQ(blind->read(), BlockConditions{});
    EXPECT_EQ(disturbance(blind->read(), 0), "");
    EXPECT_EQ(openDeviceMonitor("")->name(), "none: the device is simulated");
}

TEST_F(WatchedDevice, AnUnknownDeviceIsNotWatched)
{
    EXPECT_NE(openDeviceMonitor("MIG-1")->name().find("does not know MIG-1"), std::string::npos);
}

TEST(Disturbance, ThrottlingAndFallingClocksDoNotCountAPowerCapDoes)
{
    BlockConditions now;
    now.smMhz = 1500;
    now.throttleReasons = 0x4; // the power cap: the honest speed of a heavy kernel
    EXPECT_EQ(disturbance(now, 3000), "");
    now.throttleReasons = 0;
    EXPECT_EQ(disturbance(now, 1980), "");
    EXPECT_EQ(disturbance(now, 2010), "low clock");
    for (const int reason : {0x8, 0x20, 0x40, 0x80}) {
        now.throttleReasons = 0x4 | reason;
        EXPECT_EQ(disturbance(now, 1500), "throttled");
    }
}

} // namespace
} // namespace espalier::judge
