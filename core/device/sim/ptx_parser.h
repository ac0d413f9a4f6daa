// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/device/sim/ptx_syntax.h"

#include <string_view>

namespace espalier::sim {

/// Parses PTX text, which must outlive the Module. Never crashes, whatever the text; needs memory in proportion to it.
/// Errors: InvalidInput "line N: ...".
Result<Module> parsePtx(std::string_view text);

} // namespace espalier::sim
