// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <string_view>

namespace espalier {

/// An error's kind as scripts and other processes read it: "invalid_input". Thread: any.
std::string_view nameOf(ErrorCode code);
ErrorCode errorCodeNamed(std::string_view name); ///< Internal for a name that is none

} // namespace espalier
