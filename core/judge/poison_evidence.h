// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/ops/ops.h"

#include <cstdint>

namespace espalier::judge {

/// Whether wrong elements that hold the bits of the poison were left unwritten, or were written and hold them by
/// chance: eight- and sixteen-bit types have few bits, and every kernel that goes wrong writes the same NaN. Pure.

/// The likeliest of the poison's patterns: no wrong element that was written matches with a higher probability.
double coincidence(ops::PoisonKind kind, ops::DType type);

/// Whether so many of the wrong elements match that chance cannot be the reason (less than once in a million).
bool beyondChance(std::uint64_t matches, std::uint64_t wrong, double coincidence);

} // namespace espalier::judge
