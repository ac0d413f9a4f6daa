// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace espalier::sim {

enum class Access : std::uint8_t { ReadOnly, ReadWrite };

/// One allocation as a simulated kernel sees it: device addresses [base, base + bytes), backed by `host`.
/// Anything outside every range faults, to the byte.
struct MemoryRange {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    std::byte* host = nullptr;
    Access access = Access::ReadWrite;
    std::string name; ///< for messages: "input x", "output y", "workspace", "__device__ table"
};

/// The global address space of one simulated client: ranges sorted by base, never overlapping. Does not own the bytes.
/// Thread: one.
class AddressSpace
{
public:
    void add(MemoryRange range); ///< asserts that it overlaps nothing
    void remove(std::uint64_t base);
    /// The range that holds [address, address + bytes), or nullptr.
    const MemoryRange* find(std::uint64_t address, std::uint64_t bytes) const;
    /// The range nearest to an address that lies in none, for messages; nullptr when there are none.
    const MemoryRange* nearest(std::uint64_t address) const;
    const std::vector<MemoryRange>& ranges() const { return m_ranges; }

private:
    std::vector<MemoryRange> m_ranges;
};

} // namespace espalier::sim
