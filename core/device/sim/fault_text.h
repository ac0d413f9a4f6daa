// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/block_runner.h"

namespace espalier::sim {

/// The launch's fault as one sentence that names kernel, what happened, where, block, thread and source line.
Fault describeFault(const Kernel& kernel, const LaunchConfig& config, const AddressSpace& memory,
                    const LaunchLimits& limits, const LaunchState& state, const BlockRunner& runner);

} // namespace espalier::sim
