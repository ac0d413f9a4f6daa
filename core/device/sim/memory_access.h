// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/handlers_common.h"

namespace espalier::sim::ESPALIER_SIM_ISA {

/// Where the bytes of one memory instruction lie, checked and counted.
struct Resolved {
    bool contiguous = false; ///< lane l at base + l * bytes, all 32 lanes
    bool uniform = false;    ///< every active lane at base
    std::byte* base = nullptr;
    std::byte* lane[warpLanes]; ///< of the active lanes when neither of the above
};

enum class Purpose : std::uint8_t { Read, Write, Update };

/// Moves the bytes of a cp.async.
inline void finishCopy(BlockState& block, const PendingCopy& copy)
{
    std::byte* to = block.shared + copy.destination;
    if (copy.sourceBytes)
        std::memcpy(to, copy.source, copy.sourceBytes);
    std::memset(to + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
}

/// Device addresses of an instruction's lanes: register at `slot` plus `offset`.
void addressesOf(const Warp& warp, std::uint32_t slot, bool wide, std::int64_t offset, std::uint64_t* addresses);

/// Checks space, bounds, alignment and write access of `bytes` at each active lane, counts the traffic, and says where
/// the bytes are. False: the launch's fault is set, nothing was counted.
bool resolve(Warp& warp, Space space, const std::uint64_t* addresses, std::uint32_t bytes, Purpose purpose,
             Resolved& where);

} // namespace espalier::sim::ESPALIER_SIM_ISA
