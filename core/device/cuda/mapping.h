// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/cuda/driver_api.h"

#include <cstddef>

namespace espalier::cuda {

/// One physical allocation mapped into this process between two reserved, unmapped guard ranges: an access below or
/// past it faults. Thread: one. Owns the address range and the mapping; the physical memory lives as long as anybody
/// maps it or holds its handle.
class GuardedMapping
{
public:
    /// Maps all `bytes` (a multiple of `granularity`) of `handle` on device `ordinal`.
    static Result<GuardedMapping> create(const DriverApi& api, int ordinal, CUmemGenericAllocationHandle handle,
                                         std::size_t bytes, std::size_t granularity, bool writable);
    GuardedMapping(GuardedMapping&& other) noexcept;
    GuardedMapping& operator=(GuardedMapping&& other) noexcept;
    GuardedMapping(const GuardedMapping&) = delete;
    GuardedMapping& operator=(const GuardedMapping&) = delete;
    ~GuardedMapping();

    CUdeviceptr address() const { return m_reserved + m_guard; }
    std::size_t bytes() const { return m_bytes; }
    /// Leaves everything as it is, for ever: after the device is lost, cleaning up can hang.
    void abandon() { m_mapped = false, m_reserved = 0; }

private:
    GuardedMapping() = default;

    const DriverApi* m_api = nullptr;
    CUdeviceptr m_reserved = 0;
    std::size_t m_guard = 0;
    std::size_t m_bytes = 0;
    bool m_mapped = false;
};

/// The least granule of shareable allocations on device `ordinal`, in bytes (2 MiB on every GPU seen).
Result<std::size_t> allocationGranularity(const DriverApi& api, int ordinal);

/// What an allocation that can be exported as a descriptor looks like.
CUmemAllocationProp shareableAllocation(int ordinal);

} // namespace espalier::cuda
