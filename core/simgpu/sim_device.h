// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/device.h"
#include "core/device/sim/time_model.h"

#include <cstdint>
#include <memory>

namespace espalier::sim {

struct SimDeviceSettings {
    DeviceProfile profile; ///< of resources/devices/h200.json
    std::uint64_t memoryLimit =
        0; ///< bytes of host memory it may take; 0: the smaller of 8 GiB and half of the machine's
};

/// The judge's side of the simulated device: buffers are memfds mapped in the judge, operations run on the CPU. It
/// needs no simgpu process: that one (SimGpu) gets the same memfds and executes candidates' kernels on them, so a lost
/// simgpu loses no bytes. info().id is "sim", info().simulated is true. Thread: the judge's.
Result<std::unique_ptr<Device>> openSimDevice(const SimDeviceSettings& settings);

} // namespace espalier::sim
