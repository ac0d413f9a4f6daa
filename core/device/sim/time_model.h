// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/device/device.h"
#include "core/device/sim/counters.h"

#include <string>
#include <string_view>

namespace espalier::sim {

/// Roofs of a real device, from resources/devices/*.json, used to turn counts into a *modelled* time.
/// Rates in units per second; GB = 10^9 bytes.
struct DeviceProfile {
    DeviceInfo info;
    double dramBytesPerSecond = 0;
    double l2BytesPerSecond = 0;
    double sharedBytesPerSecond = 0;
    double flopsF32PerSecond = 0;
    double flopsF64PerSecond = 0;
    double flopsF16PerSecond = 0;
    double specialPerSecond = 0;
    double warpIssuePerSecond = 0; ///< all multiprocessors together
    double launchSeconds = 0;      ///< fixed cost of one launch
    int maxThreadsPerMultiprocessor = 0;
    int maxBlocksPerMultiprocessor = 0;
    std::size_t sharedPerMultiprocessor = 0;

    static Result<DeviceProfile> parse(std::string_view json, std::string_view file);
};

/// Shape of a launch as the model needs it beside the counts.
struct LaunchShape {
    std::uint64_t blocks = 0;
    std::uint32_t threadsPerBlock = 0;
    std::uint32_t sharedPerBlock = 0;
};

/// Modelled seconds of one launch: the largest of the terms (DRAM, L2, shared, FLOP, special, issue), each at its roof
/// scaled by how much of the device the launch can fill, plus the launch cost. The formula stands in time_model.cpp.
double modelledSeconds(const Counters& counters, const LaunchShape& shape, const DeviceProfile& profile);

} // namespace espalier::sim
