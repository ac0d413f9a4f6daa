// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/device/runner_device.h"
#include "core/profile/collector.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace espalier::runner {

/// What makes the process a runner of one kind of device. Both functions run before any foreign code is loaded.
/// What a runner puts between itself and an untrusted library. Everything, but in the corpus program's own worker.
struct RunnerDefences {
    bool seccomp = true;        ///< confinement.h
    bool entryPointGate = true; ///< entry_point_gate.h
};

struct RunnerSetup {
    std::function<Result<std::unique_ptr<RunnerDevice>>()> openDevice;
    /// Makes the CUDA runtime's symbols available to libraries loaded later; returns its version (13000).
    std::function<Result<int>()> bindRuntime;
    /// How long it spins for the next message before it sleeps: a wake-up would stand in the judge's clock.
    std::chrono::microseconds spin{0};
    RunnerDefences defences;
    /// A profiler has one, opened after the device and prepared before anything foreign is loaded.
    std::function<Result<std::unique_ptr<profile::Collector>>()> openCollector;
};

/// The life of a runner: says that it is ready, then serves the judge on `control` until it closes. Returns the
/// process's exit code. Thread: the process's only one, until a library starts others.
int serveRunner(UniqueFd control, const RunnerSetup& setup);

/// The CUDA runtime as a shared library: dlopens `path` (or the loader's "libcudart.so.13") with RTLD_GLOBAL.
Result<int> bindCudaRuntime(const std::string& path);

/// Command line of `espalier-worker runner`: --device cuda:N|sim [--runtime PATH]; sockets on 3 (judge) and 4 (simgpu).
int runnerMain(int argc, char** argv, const RunnerDefences& defences = {});

} // namespace espalier::runner
