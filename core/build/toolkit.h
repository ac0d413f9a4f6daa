// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace espalier {

/// A CUDA toolkit 13.x that was found on this machine; Espalier never installs one. A value. Thread: any.
struct Toolkit {
    std::filesystem::path home;    ///< links resolved: "/usr/local/cuda-13.0"
    std::filesystem::path nvcc;    ///< the compiler itself, where a wrapper of that name stands before it
    std::filesystem::path include; ///< holds cuda_runtime.h
    std::filesystem::path lib;     ///< holds libcublas.so, when installed
    /// Every folder that its programs and headers are found in: what a compiler's sandbox must show. As nvcc names
    /// them, and with links resolved.
    std::vector<std::filesystem::path> folders;
    std::string version;  ///< "13.0.88"
    std::string identity; ///< hash over version and the compiler's programs (name, size, time): part of build keys
};

/// Looks in $CUDA_HOME, else for nvcc on the PATH, then in /usr/local/cuda. `home`: look only there. Where its parts
/// lie is asked of nvcc (`--dryrun`), so that every layout serves that nvcc itself can compile in: NVIDIA's, Debian's,
/// conda's, a wrapper script. Errors: NotFound when there is none, or none where CUDA_HOME says; NotSupported for
/// another major version; one sentence saying what to get.
Result<Toolkit> findToolkit(const std::filesystem::path& home = {});

} // namespace espalier
