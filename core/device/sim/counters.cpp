// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/counters.h"

namespace espalier::sim {

Counters& Counters::operator+=(const Counters& other)
{
    static constexpr std::uint64_t Counters::* fields[] = {
        &Counters::launches,
        &Counters::blocks,
        &Counters::threads,
        &Counters::warpInstructions,
        &Counters::threadInstructions,
        &Counters::globalLoadBytes,
        &Counters::globalStoreBytes,
        &Counters::globalLoadRequests,
        &Counters::globalStoreRequests,
        &Counters::globalLoadSectors,
        &Counters::globalStoreSectors,
        &Counters::sharedLoadBytes,
        &Counters::sharedStoreBytes,
        &Counters::sharedRequests,
        &Counters::sharedWavefronts,
        &Counters::localBytes,
        &Counters::atomics,
        &Counters::barriers,
        &Counters::shuffles,
        &Counters::flopsF16,
        &Counters::flopsF32,
        &Counters::flopsF64,
        &Counters::specialF32,
        &Counters::dramReadBytes,
        &Counters::dramWriteBytes,
        &Counters::divergentBranches,
    };
    static_assert(sizeof fields / sizeof *fields * sizeof(std::uint64_t) == sizeof(Counters));
    for (const auto field : fields)
        this->*field += other.*field;
    return *this;
}

} // namespace espalier::sim
