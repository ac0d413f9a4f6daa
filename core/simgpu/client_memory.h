// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/device/runner_device.h"
#include "core/device/sim/sim_memory.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace espalier::sim {

/// Host bytes mapped into this process; unmapped by the destructor. Thread: any, one owner.
class HostMapping
{
public:
    /// Shared pages of a descriptor, or private zeroed ones when `fd` is negative.
    static Result<HostMapping> create(int fd, std::uint64_t bytes, bool writable = true);
    HostMapping() = default;
    HostMapping(HostMapping&& other) noexcept { *this = std::move(other); }
    HostMapping& operator=(HostMapping&& other) noexcept;
    ~HostMapping();
    std::byte* data() const { return m_data; }
    std::uint64_t bytes() const { return m_bytes; }

private:
    std::byte* m_data = nullptr;
    std::uint64_t m_bytes = 0;
};

/// What the judge grants: see SimGrant. `mappedBytes` is the size of the whole buffer.
struct GrantRequest {
    std::uint64_t offset = 0, bytes = 0, mappedBytes = 0;
    Grant access = Grant::ReadOnly;
    std::string name;
};

/// One client's device memory in simgpu: the judge's grants, the candidate's own allocations and the variables of its
/// modules, each at addresses of the window with unused guards between. Thread: simgpu's main thread.
class ClientMemory
{
public:
    explicit ClientMemory(std::uint64_t ownBytesLimit) : m_ownBytesLimit(ownBytesLimit) {}

    /// Maps the judge's buffer; kernels see exactly [offset, offset + bytes) of it. Returns the address of byte
    /// `offset`.
    Result<std::uint64_t> grant(const GrantRequest& request, const UniqueFd& descriptor);
    /// The address of the oldest grant that the runner has not fetched, if it agrees with what the runner was told.
    std::optional<std::uint64_t> fetchGrant(std::uint64_t mappedBytes, Grant access, std::uint64_t offset);
    bool dropGrant(std::uint64_t address);

    /// nullopt: over the client's limit. Fresh bytes are 0xCD…, so that nobody can lean on zeros.
    std::optional<std::uint64_t> allocate(std::uint64_t bytes, Access access, std::string name, bool zeroed = false);
    bool release(std::uint64_t address); ///< of allocate()
    /// Bytes behind an allocation or grant, for the runtime's own writes; nullptr when not all of them lie in one.
    std::byte* host(std::uint64_t address, std::uint64_t bytes) const;

    const AddressSpace& space() const { return m_space; }

private:
    std::optional<std::uint64_t> takeAddresses(std::uint64_t bytes);

    struct Block {
        HostMapping mapping;
        std::uint64_t reserved = 0; ///< addresses taken from the start of the block
        std::uint64_t visible = 0;  ///< device address of the first byte that kernels see
        std::uint64_t mappedBytes = 0;
        std::uint64_t offset = 0;
        Grant access = Grant::ReadOnly;
        bool granted = false, fetched = false;
    };
    std::uint64_t m_ownBytesLimit;
    std::uint64_t m_ownBytes = 0;
    std::uint64_t m_next = 0;                ///< offset in the window where the search for free addresses goes on
    std::map<std::uint64_t, Block> m_blocks; ///< by start address
    std::deque<std::uint64_t> m_unfetched;   ///< visible addresses of grants, in the judge's order
    AddressSpace m_space;
};

} // namespace espalier::sim
