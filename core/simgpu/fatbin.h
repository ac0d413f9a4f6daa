// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <string_view>

namespace espalier::sim {

/// The PTX text within a fat binary (the container nvcc embeds in a library), for a device of compute capability
/// `sm` (90 = 9.0): the entry with the highest architecture up to it. Trusts no size in the bytes. Thread: any.
/// The text refers to `fatbin`. Errors: NotSupported when the PTX is compressed or missing, InvalidInput when the
/// container is broken.
Result<std::string_view> ptxOfFatbin(std::string_view fatbin, int sm);

} // namespace espalier::sim
