// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/counters.h"
#include "core/device/sim/ptx_module.h"
#include "core/device/sim/sim_memory.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace espalier::sim {

struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;
};

struct LaunchConfig {
    Dim3 grid;
    Dim3 block;
    std::uint32_t dynamicSharedBytes = 0;
    std::span<const std::byte> params; ///< laid out as KernelFacts::params says
};

enum class FaultKind {
    OutOfBounds,   ///< an address in no range (CUDA 700)
    ReadOnlyWrite, ///< a store to an input (CUDA 700)
    Misaligned,    ///< CUDA 716
    SharedOutOfBounds,
    LocalOutOfBounds,
    Trap,             ///< trap or a device assert (CUDA 719, 710)
    BarrierDeadlock,  ///< threads of a block wait for ever
    InstructionLimit, ///< more thread instructions than allowed: an endless loop
};

struct Fault {
    FaultKind kind = FaultKind::OutOfBounds;
    std::string
        sentence;     ///< "softmax_row wrote 4 bytes 12 bytes past the end of output y (block 3, thread 17), FILE:LINE"
    std::string file; ///< from .loc, may be empty
    int line = 0;
};

struct LaunchLimits {
    std::uint64_t maxThreadInstructions = 0; ///< 0: none
    const std::atomic<bool>* cancel = nullptr;
};

struct LaunchResult {
    Counters counters;
    std::optional<Fault> fault;
};

/// Device addresses of the module's variables in the client's address space.
using SymbolTable = std::map<std::string, std::uint64_t, std::less<>>;

/// Executes one kernel launch to its end, block after block, warp by warp, 32 lanes at a time. Deterministic: the same
/// launch on the same bytes gives the same bytes and counts. The kernel must have no `unsupported` entries (asserted).
/// Thread: any; the caller owns the address space and the bytes behind it during the call.
LaunchResult launch(const PtxModule& module, const KernelFacts& kernel, const LaunchConfig& config,
                    const AddressSpace& memory, const SymbolTable& symbols, const LaunchLimits& limits);

} // namespace espalier::sim
