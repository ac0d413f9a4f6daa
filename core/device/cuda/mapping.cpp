// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda/mapping.h"

#include <utility>

namespace espalier::cuda {

CUmemAllocationProp shareableAllocation(int ordinal)
{
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = ordinal;
    return prop;
}

Result<std::size_t> allocationGranularity(const DriverApi& api, int ordinal)
{
    const CUmemAllocationProp prop = shareableAllocation(ordinal);
    std::size_t granularity = 0;
    ESPALIER_CUDA(api, "Asking for the allocation granularity failed",
                  api.cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return granularity;
}

Result<GuardedMapping> GuardedMapping::create(const DriverApi& api, int ordinal, CUmemGenericAllocationHandle handle,
                                              std::size_t bytes, std::size_t granularity, bool writable)
{
    GuardedMapping mapping;
    mapping.m_api = &api;
    mapping.m_guard = granularity;
    mapping.m_bytes = bytes;
    ESPALIER_CUDA(api, "Reserving device addresses failed",
                  api.cuMemAddressReserve(&mapping.m_reserved, bytes + 2 * granularity, 0, 0, 0));
    ESPALIER_CUDA(api, "Mapping device memory failed", api.cuMemMap(mapping.address(), bytes, 0, handle, 0));
    mapping.m_mapped = true;
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = ordinal;
    access.flags = writable ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
    ESPALIER_CUDA(api, "Setting access to device memory failed",
                  api.cuMemSetAccess(mapping.address(), bytes, &access, 1));
    return mapping;
}

GuardedMapping::GuardedMapping(GuardedMapping&& other) noexcept
{
    *this = std::move(other);
}

GuardedMapping& GuardedMapping::operator=(GuardedMapping&& other) noexcept
{
    std::swap(m_api, other.m_api);
    std::swap(m_reserved, other.m_reserved);
    std::swap(m_guard, other.m_guard);
    std::swap(m_bytes, other.m_bytes);
    std::swap(m_mapped, other.m_mapped);
    return *this;
}

GuardedMapping::~GuardedMapping()
{
    if (m_mapped) {
        m_api->cuMemUnmap(address(), m_bytes);
    }
    if (m_reserved) {
        m_api->cuMemAddressFree(m_reserved, m_bytes + 2 * m_guard);
    }
}

} // namespace espalier::cuda
