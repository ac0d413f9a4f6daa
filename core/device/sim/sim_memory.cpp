// SPDX-License-Identifier: Apache-2.0
#include "core/device/sim/sim_memory.h"

#include <algorithm>
#include <cassert>

namespace espalier::sim {

namespace {

auto after(const std::vector<MemoryRange>& ranges, std::uint64_t address)
{
    return std::ranges::upper_bound(ranges, address, {}, &MemoryRange::base);
}

std::uint64_t distance(const MemoryRange& range, std::uint64_t address)
{
    if (address < range.base)
        return range.base - address;
    return address - range.base < range.bytes ? 0 : address - (range.base + range.bytes) + 1;
}

} // namespace

void AddressSpace::add(MemoryRange range)
{
    assert(range.bytes > 0 && range.base + range.bytes > range.base);
    const auto place = after(m_ranges, range.base);
    assert(place == m_ranges.begin() || (place - 1)->base + (place - 1)->bytes <= range.base);
    assert(place == m_ranges.end() || range.base + range.bytes <= place->base);
    m_ranges.insert(place, std::move(range));
}

void AddressSpace::remove(std::uint64_t base)
{
    std::erase_if(m_ranges, [&](const MemoryRange& range) { return range.base == base; });
}

const MemoryRange* AddressSpace::find(std::uint64_t address, std::uint64_t bytes) const
{
    auto place = after(m_ranges, address);
    if (place == m_ranges.begin())
        return nullptr;
    --place;
    const std::uint64_t offset = address - place->base;
    return offset < place->bytes && place->bytes - offset >= bytes ? &*place : nullptr;
}

const MemoryRange* AddressSpace::nearest(std::uint64_t address) const
{
    const auto place =
        std::ranges::min_element(m_ranges, {}, [&](const MemoryRange& r) { return distance(r, address); });
    return place == m_ranges.end() ? nullptr : &*place;
}

} // namespace espalier::sim
