// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/time_model.h"
#include "core/simgpu/sim_device.h"
#include "core/simgpu/simgpu_client.h"
#include "tests/simgpu/forked_runner.h"

#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace espalier::sim::test {

/// The text of the H200 profile in resources/devices.
std::string profileText();

/// A judge's half of the simulated device: one simgpu process and a device; runners are made per test.
class SimFixture : public ::testing::Test
{
protected:
    void SetUp() override;

    /// One buffer filled with `values`, whose data end just before the buffer's end: `offset` is where they start.
    struct Array {
        std::unique_ptr<DeviceBuffer> buffer;
        std::uint64_t offset = 0;
        std::uint64_t count = 0;
        std::span<float> values() const
        {
            return {reinterpret_cast<float*>(buffer->address() + offset), static_cast<std::size_t>(count)};
        }
    };
    Array array(std::uint64_t count, float fill);
    void grantTo(SimClientId client, const Array& array, Grant access, const std::string& name);
    std::pair<BufferGrant, std::size_t> mapping(const Array& array, Grant access) const;

    std::optional<SimGpu> m_gpu;
    std::unique_ptr<Device> m_device;
};

} // namespace espalier::sim::test
