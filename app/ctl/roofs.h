// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <string>

namespace espalier::ctl {

/// Builds resources/roofs/roofs.cu for the GPU of this machine, runs it and keeps what it measured in the cache folder,
/// where judges look for it. Returns a line for people. Blocks for some ten seconds. Errors: no compiler, no GPU, or
/// what the program says.
Result<std::string> measureRoofs();

} // namespace espalier::ctl
