// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/instruction.h"
#include "core/device/sim/interpreter.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace espalier::sim {

/// What a handler found wrong; the interpreter makes a sentence of it.
struct RawFault {
    bool set = false;
    FaultKind kind = FaultKind::OutOfBounds;
    std::uint64_t address = 0; ///< in its own space
    std::uint32_t bytes = 0;
    std::uint32_t lane = 0;
    Space space = Space::Generic;
    const char* verb = "read"; ///< "read", "wrote", "updated"
};

/// One range of global memory with the sectors the launch has touched so far.
struct TouchedRange {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    std::byte* host = nullptr;
    bool writable = false;
    std::uint64_t firstSector = 0;
    std::unique_ptr<std::uint64_t[]> read; ///< one bit a sector; made on first use
    std::unique_ptr<std::uint64_t[]> written;
};

/// A barrier of a block.
struct BarrierState {
    std::uint32_t arrived = 0;  ///< threads, those that only arrive included
    std::uint32_t expected = 0; ///< threads; 0: all that have not exited
    bool active = false;
    std::uint32_t votes = 0; ///< bar.red: threads whose predicate was true
    std::uint32_t voters = 0;
};

struct LaunchState {
    Counters counters;
    RawFault fault;
    std::vector<TouchedRange> ranges; ///< sorted by base
    std::size_t lastRange = 0;
    std::uint64_t clock = 0; ///< reads of a clock register
    const std::byte* params = nullptr;
    std::uint32_t paramBytes = 0;
};

/// A bulk copy into shared memory that has been issued. The bytes move, and the barrier hears of them, when somebody
/// looks at the barrier, so that a forgotten wait shows.
struct PendingBulk {
    const std::byte* source = nullptr;
    std::uint32_t destination = 0; ///< in shared memory, as is the barrier
    std::uint32_t bytes = 0;
    std::uint32_t barrier = 0;
};

struct BlockState {
    std::byte* shared = nullptr;
    std::uint32_t sharedBytes = 0;
    std::array<BarrierState, clusterBarrier + 1> barriers; ///< the last one is barrier.cluster's
    std::vector<PendingBulk> bulk;
    std::uint32_t liveThreads = 0;
    Dim3 index;
};

/// Lanes that stand at the same instruction.
struct Fragment {
    enum class State : std::uint8_t { Ready, AtBarrier, AtWarpSync };
    std::uint32_t pc = 0;
    std::uint32_t lanes = 0;
    std::uint32_t waitsFor = 0; ///< AtWarpSync: member mask
    State state = State::Ready;
    std::uint8_t barrier = 0; ///< AtBarrier: its number
    bool forced = false;      ///< goes on although members of its mask wait elsewhere
};

/// A cp.async that has been issued and not waited for. The bytes move when the program waits, so that a forgotten wait
/// shows.
struct PendingCopy {
    const std::byte* source = nullptr;
    std::uint32_t destination = 0; ///< in shared memory
    std::uint32_t group = 0;       ///< of its lane
    std::uint8_t lane = 0;
    std::uint8_t bytes = 0;
    std::uint8_t sourceBytes = 0; ///< the rest is filled with zeros
};

struct Warp {
    std::byte* frame = nullptr;
    const std::uint32_t* lists = nullptr;                    ///< of the kernel
    std::uint32_t exec = 0;                                  ///< lanes the instruction at hand works for
    alignas(64) std::array<std::uint32_t, warpLanes> mask{}; ///< all ones where exec has the lane's bit
    LaunchState* launch = nullptr;
    BlockState* block = nullptr;
    std::byte* local = nullptr; ///< of lane 0; lane l is localBytes * l further
    std::uint32_t localBytes = 0;
    std::uint32_t index = 0;     ///< in the block
    std::uint32_t live = 0;      ///< lanes that have not exited
    std::uint32_t backward = 0;  ///< backward branches in its present turn
    std::uint32_t fairPicks = 0; ///< picks left in which the last fragment comes first: ends spinning
    std::vector<Fragment> fragments;
    std::vector<PendingCopy> copies;
    std::array<std::uint32_t, warpLanes> copyGroups{}; ///< groups each lane has committed
};

} // namespace espalier::sim
