// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <string_view>

namespace espalier {

/// How a kernel brings its operands to the arithmetic, the most elaborate means that its text names.
enum class MemoryStrategy { Direct, Vector, Shared, Async, Bulk };

/// What makes two kernels different in kind rather than in speed: the axes of the archive that strategy `evolution`
/// keeps (one elite for each cell, after MAP-Elites, Mouret and Clune 2015). Values; pure functions of text and
/// records.
struct KernelTraits {
    MemoryStrategy memory = MemoryStrategy::Direct;
    bool tensorCores = false;
    int occupancy = 0; ///< by registers of the greediest kernel: 0 up to 32, 1 up to 64, 2 up to 128, 3 more
    int size = 0;      ///< of the text without comments and layout: 0 up to 2 kB, 1 up to 5, 2 up to 12, 3 more
    bool operator==(const KernelTraits&) const = default;

    static constexpr int cells = 5 * 2 * 4 * 4;
    int cell() const { return ((static_cast<int>(memory) * 2 + (tensorCores ? 1 : 0)) * 4 + occupancy) * 4 + size; }
};

/// From the text alone; occupancy stays 0 and the tensor cores are those that the text names. Thread: any.
KernelTraits traitsOfSource(std::string_view source);

/// What only the machine code tells: registers, and whether a matrix unit's instruction is really in it.
struct BuildTraits {
    int occupancy = 0;
    bool tensorCores = false;
    bool operator==(const BuildTraits&) const = default;
};
BuildTraits traitsOfBuild(const BuildRecord& build);

} // namespace espalier
