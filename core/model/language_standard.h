// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include "core/model/task.h"

#include <string>
#include <string_view>

namespace espalier {

/// What a source says of the C++ that it is written in: `// espalier: std c++20` on a line of its own, the first one
/// counts. Empty: nothing. Pure. Errors: InvalidInput with the line, what was found and what is expected.
Result<std::string> statedStandard(std::string_view source);

/// What a source is compiled as: what it states, else what the task's flags say, else "c++17". A line that cannot be
/// read counts as none here.
std::string languageStandard(std::string_view source, const Task& task);

/// "c++20", "c++17", …: the form of a name that nvcc may know; which ones it knows, it says itself.
bool isStandardName(std::string_view text);

} // namespace espalier
