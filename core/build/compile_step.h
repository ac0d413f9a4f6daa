// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/subprocess.h"
#include "core/build/toolkit.h"

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace espalier {

/// One run of nvcc over one source. Values.
struct CompileRequest {
    std::string source;     ///< seen as `sourceName`, byte for byte
    std::string sourceName; ///< "candidate.cu"
    std::string header;     ///< seen as "entry.h"
    std::vector<std::string> includeRoots;
    std::vector<std::string> arguments; ///< of nvcc, without -I, source and -o
    bool sandboxed = true;
    std::chrono::milliseconds deadline{};
    std::uint64_t memoryLimit = 0, fileSizeLimit = 0;
    std::size_t outputCap = 0;
};

struct CompileResult {
    bool started = false; ///< false: the sandbox failed before the compiler ran
    ExitStatus status;
    bool timedOut = false, cancelled = false;
    std::string output; ///< what the tools printed, capped, not yet made printable
    std::uint64_t dropped = 0;
    std::string library; ///< empty unless status.success()
    double seconds = 0;
};

/// Sandboxed, nothing of it touches a disk: source and library travel by memory descriptors. Unsandboxed, a private
/// folder is used and deleted. A missed deadline or a stop kills the compiler's whole tree. Thread: any; blocks.
/// Errors: Internal, Io, NotFound when no compiler could be started at all.
Result<CompileResult> compile(const Toolkit& toolkit, const CompileRequest& request, std::stop_token stop);

} // namespace espalier
