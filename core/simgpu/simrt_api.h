// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// What libespalier_simrt.so offers the runner beside the CUDA runtime's functions. Plain C, so that a shim and a
/// worker built apart still agree; `version` says which layout this is. Thread: the runner's, except for the cuda*
/// functions, which any thread may call. Every function answers 0, or -1 when simgpu is gone or refuses.
struct EspalierSimrtApi {
    std::uint32_t version;     ///< espalierSimrtVersion
    int (*attach)(int socket); ///< takes the descriptor and reserves the window of device addresses
    int (*mapNext)(std::uint64_t mappedBytes, int writable, std::uint64_t offset, std::uint64_t* address);
    int (*unmap)(std::uint64_t address);
    void* (*stream)();
    int (*beginCall)(int* stickyError);
    int (*endCall)(int status, double hostMicroseconds);
    int (*endBlock)();
    int (*status)(int* stickyError);
    const char* (*errorName)(int error);
};

inline constexpr std::uint32_t espalierSimrtVersion = 1;
inline constexpr const char* espalierSimrtSymbol = "espalierSimrtApi";
using EspalierSimrtEntry = const EspalierSimrtApi* (*)();
