// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/client_memory.h"

#include "core/simgpu/simgpu_protocol.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

namespace espalier::sim {

Result<HostMapping> HostMapping::create(int fd, std::uint64_t bytes, bool writable)
{
    const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    const int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* data = ::mmap(nullptr, bytes, protection, flags, fd, 0);
    if (data == MAP_FAILED) {
        return fail(ErrorCode::OutOfMemory, fmt::format("cannot map {} bytes: {}", bytes, std::strerror(errno)));
    }
    HostMapping mapping;
    mapping.m_data = static_cast<std::byte*>(data);
    mapping.m_bytes = bytes;
    return mapping;
}

HostMapping& HostMapping::operator=(HostMapping&& other) noexcept
{
    std::swap(m_data, other.m_data);
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

HostMapping::~HostMapping()
{
    if (m_data) {
        ::munmap(m_data, m_bytes);
    }
}

namespace {

std::uint64_t roundedUp(std::uint64_t bytes, std::uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

} // namespace

/// Goes round the window, so that an address is used again as late as possible: stale pointers then fault.
std::optional<std::uint64_t> ClientMemory::takeAddresses(std::uint64_t bytes)
{
    if (bytes > windowBytes / 2) {
        return std::nullopt;
    }
    const std::uint64_t span = roundedUp(bytes, guardBytes) + guardBytes;
    std::uint64_t candidate = windowBase + guardBytes + m_next;
    for (std::size_t tried = 0; tried <= 2 * m_blocks.size() + 2; ++tried) {
        if (candidate + span > windowBase + windowBytes) {
            candidate = windowBase + guardBytes;
        }
        auto next = m_blocks.upper_bound(candidate);
        if (next != m_blocks.begin()) {
            const auto& [start, block] = *std::prev(next);
            if (start + block.reserved > candidate) {
                candidate = start + block.reserved;
                continue;
            }
        }
        if (next != m_blocks.end() && next->first < candidate + span) {
            candidate = next->first + next->second.reserved;
            continue;
        }
        m_next = candidate + span - windowBase - guardBytes;
        return candidate;
    }
    return std::nullopt;
}

Result<std::uint64_t> ClientMemory::grant(const GrantRequest& request, const UniqueFd& descriptor)
{
    struct stat facts = {};
    if (!descriptor || ::fstat(descriptor.get(), &facts) != 0 ||
        static_cast<std::uint64_t>(facts.st_size) < request.mappedBytes || request.bytes == 0 ||
        request.offset > request.mappedBytes || request.bytes > request.mappedBytes - request.offset) {
        return fail(ErrorCode::Protocol,
                    fmt::format("the buffer of {} does not hold the bytes to grant", request.name));
    }
    ESPALIER_TRY(HostMapping mapping, HostMapping::create(descriptor.get(), request.mappedBytes));
    const auto start = takeAddresses(request.mappedBytes);
    if (!start) {
        return fail(ErrorCode::OutOfMemory, "the simulated device has no addresses left: use a fresh runner");
    }
    const std::uint64_t visible = *start + request.offset;
    m_space.add({visible, request.bytes, mapping.data() + request.offset,
                 request.access == Grant::ReadOnly ? Access::ReadOnly : Access::ReadWrite, request.name});
    m_blocks.emplace(*start, Block{std::move(mapping), roundedUp(request.mappedBytes, guardBytes) + guardBytes, visible,
                                   request.mappedBytes, request.offset, request.access, true, false});
    m_unfetched.push_back(*start);
    return visible;
}

std::optional<std::uint64_t> ClientMemory::fetchGrant(std::uint64_t mappedBytes, Grant access, std::uint64_t offset)
{
    if (m_unfetched.empty()) {
        return std::nullopt;
    }
    Block& block = m_blocks.at(m_unfetched.front());
    if (block.mappedBytes != mappedBytes || block.access != access || block.offset != offset) {
        return std::nullopt;
    }
    m_unfetched.pop_front();
    block.fetched = true;
    return block.visible;
}

bool ClientMemory::dropGrant(std::uint64_t address)
{
    const auto found = std::ranges::find_if(m_blocks, [address](const auto& entry) {
        return entry.second.granted && entry.second.fetched && entry.second.visible == address;
    });
    if (found == m_blocks.end()) {
        return false;
    }
    m_space.remove(found->second.visible);
    m_blocks.erase(found);
    return true;
}

std::optional<std::uint64_t> ClientMemory::allocate(std::uint64_t bytes, Access access, std::string name, bool zeroed)
{
    if (bytes == 0 || bytes > m_ownBytesLimit - m_ownBytes) {
        return std::nullopt;
    }
    auto mapping = HostMapping::create(-1, bytes);
    const auto start = mapping ? takeAddresses(bytes) : std::nullopt;
    if (!start) {
        return std::nullopt;
    }
    if (!zeroed) {
        std::memset(mapping->data(), 0xCD, bytes);
    }
    m_ownBytes += bytes;
    m_space.add({*start, bytes, mapping->data(), access, std::move(name)});
    m_blocks.emplace(*start, Block{std::move(*mapping), roundedUp(bytes, guardBytes) + guardBytes, *start, bytes, 0,
                                   Grant::ReadWrite, false, false});
    return *start;
}

bool ClientMemory::release(std::uint64_t address)
{
    const auto found = m_blocks.find(address);
    if (found == m_blocks.end() || found->second.granted) {
        return false;
    }
    m_ownBytes -= found->second.mappedBytes;
    m_space.remove(address);
    m_blocks.erase(found);
    return true;
}

std::byte* ClientMemory::host(std::uint64_t address, std::uint64_t bytes) const
{
    const MemoryRange* range = m_space.find(address, bytes);
    return range ? range->host + (address - range->base) : nullptr;
}

} // namespace espalier::sim
