// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/device/runner_device.h"

#include <memory>
#include <string>

namespace espalier::sim {

/// File name of the runtime shim; it is built and installed beside espalier-worker.
inline constexpr const char* simrtName = "libespalier_simrt.so";

/// The simulated device in a runner. Loads `simrtPath` with RTLD_GLOBAL, so that a candidate library loaded
/// *afterwards* (RTLD_NOW) finds its cuda* imports there, and talks to simgpu over `client` (the runnerEnd of
/// SimGpu::createClient). It reserves 1 TiB of addresses without access (PROT_NONE), so a runner must not have a
/// smaller RLIMIT_AS. map() takes the judge's grants in their order and ignores `handle`; `grant.access` and `offset`
/// must agree with what the judge granted. runBlock() only queues: the work runs when the judge asks simgpu, so no
/// clock of the runner means anything and eventMicroseconds is 0. Thread: the runner's. One per process: its state
/// lives in the shim.
Result<std::unique_ptr<RunnerDevice>> openSimRunnerDevice(UniqueFd client, const std::string& simrtPath);

} // namespace espalier::sim
