// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/device/cuda/driver_api.h"

namespace espalier::profile {

/// Fills the L2 cache with lines of our own by reading twice its size. A memset would do for timing, but leaves as many
/// dirty lines behind, whose way to memory would be counted as the candidate's. Thread: one. Owns its memory and
/// module.
class CacheSweep
{
public:
    static Result<CacheSweep> create(const cuda::DriverApi& api, int ordinal);
    CacheSweep(CacheSweep&& other) noexcept;
    CacheSweep& operator=(CacheSweep&&) = delete;
    ~CacheSweep();

    Result<void> run() const; ///< and waits for it

private:
    explicit CacheSweep(const cuda::DriverApi& api) : m_api(&api) {}

    const cuda::DriverApi* m_api;
    CUmodule m_module = nullptr;
    CUfunction m_function = nullptr;
    CUdeviceptr m_memory = 0;
    std::size_t m_bytes = 0;
};

} // namespace espalier::profile
