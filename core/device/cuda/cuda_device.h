// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/device.h"

#include <memory>
#include <vector>

namespace espalier {

/// The judge's side of an NVIDIA GPU, over the driver API (loaded with dlopen; the CUDA runtime is never loaded here).
/// `ordinal` counts the devices the driver shows this process. Buffers are VMM allocations between unmapped guard
/// ranges, exported as POSIX descriptors. Thread and errors as Device; NotFound or NotSupported without a usable driver
/// or device, with the remedy. One per process.
Result<std::unique_ptr<Device>> openCudaDevice(int ordinal);

/// Facts about every GPU the driver shows, without creating a context. Errors as openCudaDevice; an empty list when the
/// driver shows no GPU.
Result<std::vector<DeviceInfo>> listCudaDevices();

} // namespace espalier
