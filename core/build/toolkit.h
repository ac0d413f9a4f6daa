// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>

namespace espalier {

/// A CUDA toolkit 13.x that was found on this machine; Espalier never installs one. A value. Thread: any.
struct Toolkit {
    std::filesystem::path home; ///< links resolved: "/usr/local/cuda-13.0"
    std::filesystem::path nvcc;
    std::filesystem::path include; ///< holds cuda_runtime.h
    std::filesystem::path lib;     ///< holds libcublas.so, when installed
    std::string version;           ///< "13.0.88"
    std::string identity; ///< hash over version and the compiler's programs (name, size, time): part of build keys
};

/// Looks in $CUDA_HOME, then for nvcc on the PATH, then in /usr/local/cuda. `home`: look only there.
/// Errors: NotFound when there is none, NotSupported for another major version, one sentence saying what to get.
Result<Toolkit> findToolkit(const std::filesystem::path& home = {});

} // namespace espalier
