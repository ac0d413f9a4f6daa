// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/ops/ops.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace espalier::ops {

/// Bytes of the argument struct of `op`.
std::size_t argumentBytes(Op op);

/// Runs `op` over `count` elements on the calling thread. `args` is the op's argument struct; its addresses are host
/// pointers. Same bits as the CUDA kernels (of the two sums of squares: same up to the order of addition). Asserts
/// that `args` has the right size. Thread: any.
void runOnCpu(Op op, std::span<const std::byte> args, std::uint64_t count);

} // namespace espalier::ops
