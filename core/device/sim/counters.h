// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace espalier::sim {

/// What one launch did, counted by executing it. Counts are exact; nothing here is modelled.
struct Counters {
    std::uint64_t launches = 0;
    std::uint64_t blocks = 0;
    std::uint64_t threads = 0;
    std::uint64_t warpInstructions = 0;   ///< issued, one per warp
    std::uint64_t threadInstructions = 0; ///< with the guard predicate on
    std::uint64_t globalLoadBytes = 0;    ///< bytes the threads asked for
    std::uint64_t globalStoreBytes = 0;
    std::uint64_t globalLoadRequests = 0; ///< warp-level instructions
    std::uint64_t globalStoreRequests = 0;
    std::uint64_t globalLoadSectors = 0; ///< distinct 32-byte sectors per request, summed
    std::uint64_t globalStoreSectors = 0;
    std::uint64_t sharedLoadBytes = 0;
    std::uint64_t sharedStoreBytes = 0;
    std::uint64_t sharedRequests = 0;
    std::uint64_t sharedWavefronts = 0; ///< passes over the 32 banks of 4 bytes; requests when free of conflicts
    std::uint64_t localBytes = 0;
    std::uint64_t atomics = 0;
    std::uint64_t barriers = 0;
    std::uint64_t shuffles = 0;
    std::uint64_t flopsF16 = 0; ///< FMA = 2, per thread
    std::uint64_t flopsF32 = 0;
    std::uint64_t flopsF64 = 0;
    std::uint64_t specialF32 = 0;     ///< ex2, lg2, rcp, sqrt, rsqrt, sin, cos, tanh
    std::uint64_t dramReadBytes = 0;  ///< sectors read that the modelled L2 did not hold (first touch in the launch)
    std::uint64_t dramWriteBytes = 0; ///< sectors written, each once per launch
    std::uint64_t divergentBranches = 0;

    Counters& operator+=(const Counters& other);
};

} // namespace espalier::sim
