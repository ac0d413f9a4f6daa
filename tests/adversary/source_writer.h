// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "tests/adversary/grammar.h"

#include <filesystem>

namespace espalier::adversary_test {

/// The whole .cu of a drawn candidate: the honest kernel, its entry renamed, and after it a kernel that puts other
/// values in the chosen places when the trigger holds. Folders: where tasks/ and tests/ are. Errors: an honest kernel
/// that is not there or has no entry to rename.
Result<std::string> sourceOf(const Drawn& drawn, const std::filesystem::path& tasks,
                             const std::filesystem::path& adversary);

} // namespace espalier::adversary_test
