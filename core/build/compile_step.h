// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/subprocess.h"
#include "core/build/toolkit.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace espalier {

/// A text that the compiler sees as NAME, a path within its working folder. A value.
struct InputFile {
    std::string name, text;
};

/// One run of nvcc over one source. Values.
struct CompileRequest {
    std::string source;           ///< seen as `sourceName`, byte for byte
    std::string sourceName;       ///< "candidate.cu"
    std::vector<InputFile> files; ///< beside it: "entry.h" and what else the arguments name
    std::vector<std::string> includeRoots;
    std::vector<std::string> arguments; ///< of nvcc, without -shared, -I, source and -o
    bool keepHost = false;              ///< the host object is wanted beside the library
    /// The host object of a source with the same host part (host_part.h): only the device part is compiled, and takes
    /// the place of the device code in it.
    std::shared_ptr<const std::string> host;
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
    std::string host;    ///< likewise, where it was wanted
    std::string ptx;     ///< where ptxas failed: the text that its messages name lines of
    bool joined = true;  ///< false: the device part is fine, but does not belong to the host object
    double seconds = 0;
};

/// Sandboxed, nothing of it touches a disk: source and library travel by memory descriptors. Unsandboxed, a private
/// folder is used and deleted. A missed deadline or a stop kills the compiler's whole tree. Thread: any; blocks.
/// Errors: Internal, Io, NotFound when no compiler could be started at all.
Result<CompileResult> compile(const Toolkit& toolkit, const CompileRequest& request, std::stop_token stop);

} // namespace espalier
