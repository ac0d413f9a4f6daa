// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace espalier {

/// What one launch asks of a multiprocessor.
struct LaunchShape {
    int threads = 0;     ///< a block
    int registers = 0;   ///< a thread
    int sharedBytes = 0; ///< a block, static and dynamic
};

/// How many warps of it a multiprocessor can hold, and what keeps it from holding more.
struct Occupancy {
    double percent = 0;    ///< 0: the compute capability is not known, or the launch is impossible
    int blocks = 0;        ///< resident on one multiprocessor
    std::string limitedBy; ///< "registers", "shared memory", "block size", "blocks"; "nothing" at 100 %
};

/// By the limits that NVIDIA publishes for each compute capability (CUDA programming guide, technical specifications):
/// registers are handed out 256 a warp at a time, shared memory in granules with 1 KiB of the system's a block. Pure.
Occupancy occupancyOf(const LaunchShape& launch, int smMajor, int smMinor);

} // namespace espalier
