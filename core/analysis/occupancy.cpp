// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/occupancy.h"

#include <algorithm>

namespace espalier {

namespace {

struct SmLimits {
    int capability; ///< major * 10 + minor
    int warps;
    int blocks;
    int sharedBytes; ///< of a multiprocessor
};

constexpr int kib = 1024;
constexpr SmLimits smLimits[] = {
    {75, 32, 16, 64 * kib},   {80, 64, 32, 164 * kib},  {86, 48, 16, 100 * kib},  {87, 48, 16, 164 * kib},
    {89, 48, 24, 100 * kib},  {90, 64, 32, 228 * kib},  {100, 64, 32, 228 * kib}, {103, 64, 32, 228 * kib},
    {120, 48, 24, 100 * kib}, {121, 48, 24, 100 * kib},
};

constexpr int registersOfSm = 65536, registerUnit = 256, warpUnit = 4, warpSize = 32;
constexpr int sharedUnit = 128, sharedOfSystem = 1 * kib;

int roundedUp(int value, int unit)
{
    return (value + unit - 1) / unit * unit;
}

} // namespace

Occupancy occupancyOf(const LaunchShape& launch, int smMajor, int smMinor)
{
    const auto limits = std::find_if(std::begin(smLimits), std::end(smLimits),
                                     [&](const SmLimits& row) { return row.capability == smMajor * 10 + smMinor; });
    if (limits == std::end(smLimits) || launch.threads <= 0) {
        return {};
    }
    const int warps = (launch.threads + warpSize - 1) / warpSize;
    const int perWarp = roundedUp(std::max(launch.registers, 1) * warpSize, registerUnit);
    const int warpsByRegisters = registersOfSm / perWarp / warpUnit * warpUnit;
    const int shared = roundedUp(launch.sharedBytes + (smMajor >= 8 ? sharedOfSystem : 0), sharedUnit);
    struct Ceiling {
        int blocks;
        const char* name;
    };
    // Ties are named after what the author can change most easily.
    const Ceiling bounds[] = {{warpsByRegisters / warps, "registers"},
                              {shared > 0 ? limits->sharedBytes / shared : limits->blocks, "shared memory"},
                              {limits->warps / warps, "block size"},
                              {limits->blocks, "blocks"}};
    const Ceiling* tightest = std::min_element(std::begin(bounds), std::end(bounds),
                                               [](const Ceiling& a, const Ceiling& b) { return a.blocks < b.blocks; });
    Occupancy occupancy;
    occupancy.blocks = tightest->blocks;
    occupancy.percent = 100.0 * occupancy.blocks * warps / limits->warps;
    occupancy.limitedBy = occupancy.blocks * warps == limits->warps ? "nothing" : tightest->name;
    return occupancy;
}

} // namespace espalier
