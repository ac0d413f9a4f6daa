// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"

namespace espalier::sim {

/// The whole life of `espalier-worker simgpu`: serves the judge on `control` (descriptor 3) and the runners' sockets
/// that come over it, until the judge closes. Returns the process's exit code.
int runSimGpuServer(UniqueFd control);

} // namespace espalier::sim
