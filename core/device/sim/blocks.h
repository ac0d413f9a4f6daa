// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/instruction.h"

#include <cstdint>
#include <vector>

namespace espalier::sim {

/// A straight run of instructions and where control goes from its end (block numbers; fall is the next in the text).
struct Block {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::vector<std::uint32_t> targets; ///< of the branch at its end
    bool falls = false;                 ///< may also go on to the next block
};

/// Blocks of code whose branch targets are instruction numbers. The last instruction must not fall through.
std::vector<Block> findBlocks(const Kernel& kernel);

} // namespace espalier::sim
