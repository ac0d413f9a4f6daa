// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/toolchain.h"
#include "core/build/toolkit.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

namespace espalier {

struct BuildPoolOptions {
    Result<Toolkit> toolkit = findToolkit(); ///< an error answers every job not_run with its sentence
    std::filesystem::path cache;             ///< empty: cacheFolder()/builds
    bool useCache = true;
    bool reuseHost = true; ///< a candidate whose host part was built before needs its device part only
    int workers = 0;       ///< 0: one per core
    bool sandbox = true;   ///< false: tests of the unsandboxed path only
    std::uint64_t memoryLimit = std::uint64_t{8} << 30;   ///< address space of each compiler process, bytes
    std::uint64_t fileSizeLimit = std::uint64_t{1} << 30; ///< bytes
    std::size_t outputCap = std::size_t{256} << 10;       ///< bytes of the compiler's output that are kept
    std::optional<double> deadlineSeconds;                ///< instead of the task's
};

/// The BuildPool that runs nvcc. Owns its threads; the destructor kills what still compiles.
/// Results come in the order in which compilers end, not of submission.
std::unique_ptr<BuildPool> makeNvccBuildPool(BuildPoolOptions options = {});

/// One job, at once, on the calling thread: `espalierctl eval`, tests. Never fails: see BuildResult.
BuildResult buildNow(const BuildJob& job, const BuildPoolOptions& options = {});

} // namespace espalier
