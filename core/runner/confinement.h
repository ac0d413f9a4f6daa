// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

namespace espalier::runner {

/// Limits of this process that need no sandbox: no core file, small files, bounded private memory.
void limitResources();

/// From now on this process and its threads may start threads but no process: fork, exec, ptrace and entering another
/// namespace end it with SIGSYS, so that a fork bomb is one clear crash, also where bubblewrap is missing. Irrevocable.
/// Errors: Internal when the kernel refuses seccomp.
Result<void> forbidNewProcesses();

} // namespace espalier::runner
