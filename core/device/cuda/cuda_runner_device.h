// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/runner_device.h"

#include <memory>
#include <string>

namespace espalier {

struct CudaRunnerOptions {
    int ordinal = 0;
    /// libcudart.so.13 to bind candidates to: loaded RTLD_GLOBAL before any candidate. A path, or a name for dlopen.
    std::string runtimeLibrary = "libcudart.so.13";
};

/// The runner's side of an NVIDIA GPU: the device's primary context, which the CUDA runtime of the candidate shares.
/// Thread and errors as RunnerDevice; NotFound when the driver, the GPU or the runtime library is missing. Once per
/// process.
Result<std::unique_ptr<RunnerDevice>> openCudaRunnerDevice(const CudaRunnerOptions& options);

} // namespace espalier
