// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/build/toolkit.h"
#include "core/export/export_check.h"

#include <chrono>
#include <stop_token>

namespace espalier {

/// Compiles and links an export as another program does, header and checks included: Holds where that works, Broken
/// with the compiler's first error, Unknown where nothing was said about the code (no memory or space left, a compiler
/// that died, was stopped or took longer than `deadline`, a task that cannot be read here). Thread: any; blocks.
/// Errors: our own.
Result<EvidenceVerdict> builtElsewhere(const StoredExport& stored, const Toolkit& toolkit, std::stop_token stop,
                                       std::chrono::milliseconds deadline = std::chrono::seconds(300));

} // namespace espalier
