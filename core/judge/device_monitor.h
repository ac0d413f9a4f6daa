// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <memory>
#include <string>

namespace espalier::judge {

/// Reads what may disturb a measurement: clocks, power, temperature, throttling, other processes on the GPU. Never sets
/// anything. Thread: the judge's.
class DeviceMonitor
{
public:
    virtual ~DeviceMonitor() = default;
    /// The state right now; -1 where a figure cannot be read. About a millisecond; processes are looked up a few times
    /// a second only.
    virtual BlockConditions read() = 0;
    /// Who watches: "NVML 580.159.04", or "none: libnvidia-ml.so.1 can't be loaded".
    virtual const std::string& name() const = 0;
};

/// Through NVML, loaded from libnvidia-ml.so.1 or from the file that the environment variable ESPALIER_LIBNVML names
/// (tests). Never fails: a monitor that cannot read says why in its name. `uuid`: of the device, "GPU-…"; empty
/// (simulated device): nothing to watch.
std::unique_ptr<DeviceMonitor> openDeviceMonitor(const std::string& uuid);

/// Why a block under these conditions does not count; empty: it does. `fastestSmMhz`: the highest clock seen with the
/// same contender in this case.
std::string disturbance(const BlockConditions& conditions, int fastestSmMhz);

} // namespace espalier::judge
