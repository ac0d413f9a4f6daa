// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace espalier::runner {

struct Extent {
    unsigned x = 1, y = 1, z = 1;
};

/// A launch that the runtime refused, and the limits that it may have broken: of the device's attributes, and of the
/// kernel's (0: not known).
struct RefusedLaunch {
    std::string kernel; ///< "softmaxRows(float const*, float*, long)"; empty: not known
    Extent grid, block;
    std::uint64_t dynamicShared = 0; ///< bytes
    int status = 0;                  ///< cudaError_t
    Extent mostGrid{0, 0, 0}, mostBlock{0, 0, 0};
    int mostThreads = 0;                                               ///< a block
    int kernelThreads = 0;                                             ///< of its __launch_bounds__ and registers
    int registers = 0, mostRegisters = 0;                              ///< a thread, a block
    std::uint64_t staticShared = 0, kernelShared = 0, optinShared = 0; ///< bytes a block
};

/// "the launch of k(float*) with grid 8 x 1 x 1, block 2048 x 1 x 1 and 0 bytes of dynamic shared memory was refused
/// with CUDA error 9: block x is 2048, at most 1024". Pure.
std::string textOf(const RefusedLaunch& launch);

/// The runner answers the runtime's launching functions itself, as in entry_point_gate.h: it hands every launch on and
/// notes the first one that is refused, of which the runtime tells no more than a number. Call once, before the
/// library is loaded. Thread: the runner's; launches may come from any.
void installLaunchGate();

/// What was noted since the last call of this; empty when every launch was taken. A claim, as the candidate runs in
/// the same process. Thread: the runner's.
std::string takeRefusedLaunch();

} // namespace espalier::runner
