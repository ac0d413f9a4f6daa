// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

#include <filesystem>

namespace espalier {

/// Exclusive hold on a session file for as long as it lives; the kernel drops it when the process dies, however.
/// It is a flock on the file itself, which SQLite's own (POSIX) locks do not see. Close it after the database: closing
/// any descriptor of the file drops the POSIX locks of this process.
/// Errors: Busy "X is open in process N (espalierctl)".
Result<UniqueFd> lockSession(const std::filesystem::path& file);

} // namespace espalier
