// SPDX-License-Identifier: Apache-2.0
// Address checks and traffic counts.
#include "core/device/sim/memory_access.h"

#include <algorithm>

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr unsigned sectorShift = 5;

bool raise(Warp& warp, FaultKind kind, Space space, U64 address, U32 bytes, U32 lane, Purpose purpose)
{
    static constexpr const char* verbs[] = {"read", "wrote", "updated"};
    warp.launch->fault = {true, kind, address, bytes, lane, space, verbs[static_cast<int>(purpose)]};
    return false;
}

bool holds(const TouchedRange& range, U64 address, U64 bytes)
{
    const U64 offset = address - range.base;
    return offset < range.bytes && range.bytes - offset >= bytes;
}

TouchedRange* rangeOf(LaunchState& launch, U64 address, U64 bytes)
{
    auto& ranges = launch.ranges;
    if (launch.lastRange < ranges.size() && holds(ranges[launch.lastRange], address, bytes))
        return &ranges[launch.lastRange];
    const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                        [](U64 a, const TouchedRange& r) { return a < r.base; });
    if (after == ranges.begin() || !holds(*(after - 1), address, bytes))
        return nullptr;
    launch.lastRange = static_cast<std::size_t>(after - 1 - ranges.begin());
    return &*(after - 1);
}

/// Marks sectors first..last of a bitmap; returns how many were new.
U32 mark(std::unique_ptr<U64[]>& bitmap, const TouchedRange& range, U64 first, U64 last)
{
    if (!bitmap) {
        const U64 sectors = ((range.base + range.bytes - 1) >> sectorShift) - range.firstSector + 1;
        bitmap = std::make_unique<U64[]>((sectors + 63) / 64);
    }
    first -= range.firstSector;
    last -= range.firstSector;
    U32 fresh = 0;
    for (U64 word = first / 64; word <= last / 64; ++word) {
        const U64 from = word == first / 64 ? first % 64 : 0;
        const U64 to = word == last / 64 ? last % 64 : 63;
        const U64 bits = (~U64{0} >> (63 - (to - from))) << from;
        fresh += static_cast<U32>(std::popcount(bits & ~bitmap[word]));
        bitmap[word] |= bits;
    }
    return fresh;
}

void touch(LaunchState& launch, TouchedRange& range, U64 first, U64 last, Purpose purpose)
{
    if (purpose != Purpose::Write)
        launch.counters.dramReadBytes += U64{mark(range.read, range, first, last)} << sectorShift;
    if (purpose != Purpose::Read)
        launch.counters.dramWriteBytes += U64{mark(range.written, range, first, last)} << sectorShift;
}

void countGlobal(Counters& counters, Purpose purpose, U32 lanes, U32 bytes, U32 sectors)
{
    if (purpose == Purpose::Read) {
        ++counters.globalLoadRequests;
        counters.globalLoadBytes += U64{lanes} * bytes;
        counters.globalLoadSectors += sectors;
    } else if (purpose == Purpose::Write) {
        ++counters.globalStoreRequests;
        counters.globalStoreBytes += U64{lanes} * bytes;
        counters.globalStoreSectors += sectors;
    }
}

/// How the 32 addresses lie: nonzero difference bits from contiguous, and from uniform.
void shapeOf(const U64* addresses, U32 bytes, bool& contiguous, bool& uniform)
{
    U64 step = 0, spread = 0;
    const U64 first = addresses[0];
    for (unsigned l = 0; l < warpLanes; ++l) {
        step |= addresses[l] ^ (first + U64{l} * bytes);
        spread |= addresses[l] ^ first;
    }
    contiguous = step == 0;
    uniform = spread == 0;
}

/// Distinct sectors of the active lanes, each also marked in its range.
class SectorSet
{
public:
    /// True when the sector was not in the set.
    bool add(U64 sector)
    {
        U32 slot = static_cast<U32>(sector * 0x9E3779B97F4A7C15u >> 58);
        while (m_used >> slot & 1) {
            if (m_sectors[slot] == sector)
                return false;
            slot = (slot + 1) & 63;
        }
        m_used |= U64{1} << slot;
        m_sectors[slot] = sector;
        return true;
    }

private:
    U64 m_used = 0;
    U64 m_sectors[64];
};

/// Fills where.lane for the lanes of `lanes`.
bool resolveGlobal(Warp& warp, const U64* addresses, U32 lanes, U32 bytes, Purpose purpose, bool counted,
                   Resolved& where)
{
    LaunchState& launch = *warp.launch;
    for (U32 left = lanes; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        TouchedRange* range = rangeOf(launch, addresses[l], bytes);
        if (!range)
            return raise(warp, FaultKind::OutOfBounds, Space::Global, addresses[l], bytes, l, purpose);
        if (purpose != Purpose::Read && !range->writable)
            return raise(warp, FaultKind::ReadOnlyWrite, Space::Global, addresses[l], bytes, l, purpose);
        if (addresses[l] & (bytes - 1))
            return raise(warp, FaultKind::Misaligned, Space::Global, addresses[l], bytes, l, purpose);
        where.lane[l] = range->host + (addresses[l] - range->base);
    }
    if (!counted)
        return true;
    SectorSet seen;
    U32 sectors = 0;
    U64 previous = ~U64{0};
    for (U32 left = lanes; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        const U64 sector = addresses[l] >> sectorShift;
        if (sector == previous || !seen.add(sector))
            continue;
        previous = sector;
        ++sectors;
        touch(launch, *rangeOf(launch, addresses[l], bytes), sector, sector, purpose);
    }
    countGlobal(launch.counters, purpose, static_cast<U32>(std::popcount(lanes)), bytes, sectors);
    return true;
}

/// The whole warp at once: addresses in one range, one after the other or all the same.
bool resolveGlobalFast(Warp& warp, const U64* addresses, U32 bytes, Purpose purpose, bool counted, Resolved& where)
{
    bool contiguous = false, uniform = false;
    shapeOf(addresses, bytes, contiguous, uniform);
    if (!contiguous && !uniform)
        return false;
    const U64 first = addresses[0];
    const U64 span = contiguous ? U64{bytes} * warpLanes : bytes;
    TouchedRange* range = rangeOf(*warp.launch, first, span);
    if (!range || (purpose != Purpose::Read && !range->writable) || (first & (bytes - 1)))
        return false; // the slow path says what is wrong
    where.contiguous = contiguous;
    where.uniform = uniform;
    where.base = range->host + (first - range->base);
    if (counted) {
        const U64 from = first >> sectorShift, to = (first + span - 1) >> sectorShift;
        touch(*warp.launch, *range, from, to, purpose);
        countGlobal(warp.launch->counters, purpose, warpLanes, bytes, static_cast<U32>(to - from + 1));
    }
    return true;
}

/// Passes over the banks for the lanes of one group: the largest number of different words that one bank is asked for.
U32 groupWavefronts(const U64* addresses, U32 lanes, U32 words)
{
    U32 asked[32]; // per bank: last word asked for
    std::uint8_t depth[32] = {};
    U32 others[32 * 8];
    U32 worst = 1;
    for (U32 left = lanes; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        for (U32 w = 0; w < words; ++w) {
            const U32 word = static_cast<U32>(addresses[l] >> 2) + w;
            const U32 bank = word & 31;
            if (depth[bank] != 0 && asked[bank] == word)
                continue;
            bool known = false;
            const U32 listed = std::min<U32>(depth[bank], 8);
            for (U32 i = 0; i < listed && !known; ++i)
                known = others[bank * 8 + i] == word;
            if (known)
                continue;
            // Beyond eight different words in one bank repeats are no longer told apart.
            if (depth[bank] < 8)
                others[bank * 8 + depth[bank]] = word;
            asked[bank] = word;
            worst = std::max<U32>(worst, ++depth[bank]);
        }
    }
    return worst;
}

/// A warp's access is served in groups of 128 bytes: 32, 16 or 8 lanes.
U32 wavefronts(const U64* addresses, U32 lanes, U32 bytes)
{
    const U32 words = std::max(1u, bytes / 4);
    const U32 group = std::min(32u, 32 / words);
    U32 total = 0;
    for (U32 from = 0; from < warpLanes; from += group) {
        const U32 part = group == 32 ? lanes : lanes & (((1u << group) - 1) << from);
        if (part)
            total += groupWavefronts(addresses, part, words);
    }
    return total;
}

void countShared(Counters& counters, Purpose purpose, U32 lanes, U32 bytes, U32 passes)
{
    if (purpose != Purpose::Write)
        counters.sharedLoadBytes += U64{lanes} * bytes;
    if (purpose != Purpose::Read)
        counters.sharedStoreBytes += U64{lanes} * bytes;
    ++counters.sharedRequests;
    counters.sharedWavefronts += passes;
}

bool resolveShared(Warp& warp, const U64* addresses, U32 lanes, U32 bytes, Purpose purpose, bool whole, Resolved& where)
{
    BlockState& block = *warp.block;
    U32 passes = 0;
    if (whole) {
        shapeOf(addresses, bytes, where.contiguous, where.uniform);
        if (bytes < 4 && where.contiguous) {
            passes = 1;
        } else if (where.contiguous || where.uniform) {
            passes = where.uniform ? 1 : std::max(1u, bytes / 4);
        }
    }
    for (U32 left = lanes; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        if (addresses[l] >= block.sharedBytes || block.sharedBytes - addresses[l] < bytes)
            return raise(warp, FaultKind::SharedOutOfBounds, Space::Shared, addresses[l], bytes, l, purpose);
        if (addresses[l] & (bytes - 1))
            return raise(warp, FaultKind::Misaligned, Space::Shared, addresses[l], bytes, l, purpose);
        where.lane[l] = block.shared + addresses[l];
    }
    where.base = where.lane[std::countr_zero(lanes)];
    if (passes == 0)
        passes = wavefronts(addresses, lanes, bytes);
    countShared(warp.launch->counters, purpose, static_cast<U32>(std::popcount(lanes)), bytes, passes);
    return true;
}

bool resolveLocal(Warp& warp, const U64* addresses, U32 lanes, U32 bytes, Purpose purpose, Resolved& where)
{
    for (U32 left = lanes; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        if (addresses[l] >= warp.localBytes || warp.localBytes - addresses[l] < bytes)
            return raise(warp, FaultKind::LocalOutOfBounds, Space::Local, addresses[l], bytes, l, purpose);
        if (addresses[l] & (bytes - 1))
            return raise(warp, FaultKind::Misaligned, Space::Local, addresses[l], bytes, l, purpose);
        where.lane[l] = warp.local + std::size_t{warp.localBytes} * l + addresses[l];
    }
    warp.launch->counters.localBytes += static_cast<U64>(std::popcount(lanes)) * bytes;
    return true;
}

bool resolveParam(Warp& warp, const U64* addresses, U32 lanes, U32 bytes, Purpose purpose, Resolved& where)
{
    const LaunchState& launch = *warp.launch;
    for (U32 left = lanes; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        if (addresses[l] >= launch.paramBytes || launch.paramBytes - addresses[l] < bytes)
            return raise(warp, FaultKind::OutOfBounds, Space::Param, addresses[l], bytes, l, purpose);
        if (purpose != Purpose::Read)
            return raise(warp, FaultKind::ReadOnlyWrite, Space::Param, addresses[l], bytes, l, purpose);
        where.lane[l] = const_cast<std::byte*>(launch.params) + addresses[l]; // only read: checked above
    }
    return true;
}

/// Lanes of one instruction may lie in different windows: each group is resolved by its own space.
bool resolveGeneric(Warp& warp, const U64* addresses, U32 bytes, Purpose purpose, Resolved& where)
{
    U32 groups[4] = {};
    U64 within[warpLanes] = {};
    for (U32 left = warp.exec; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        const U64 window = addresses[l] >> 56;
        const bool known = window >= 1 && window <= 3 && (addresses[l] & ((U64{1} << 56) - 1)) < windowBytes;
        groups[known ? window : 0] |= 1u << l;
        within[l] = known ? addresses[l] & (windowBytes - 1) : addresses[l];
    }
    return (!groups[0] || resolveGlobal(warp, within, groups[0], bytes, purpose, true, where)) &&
           (!groups[1] || resolveShared(warp, within, groups[1], bytes, purpose, false, where)) &&
           (!groups[2] || resolveLocal(warp, within, groups[2], bytes, purpose, where)) &&
           (!groups[3] || resolveParam(warp, within, groups[3], bytes, purpose, where));
}

} // namespace

void addressesOf(const Warp& warp, U32 slot, bool wide, std::int64_t offset, U64* addresses)
{
    if (slot == 0) {
        ESPALIER_LANES addresses[l] = static_cast<U64>(offset);
    } else if (wide) {
        const U64* base = at<U64>(warp, slot);
        ESPALIER_LANES addresses[l] = base[l] + static_cast<U64>(offset);
    } else {
        const U32* base = at<U32>(warp, slot);
        const U32 add = static_cast<U32>(offset);
        ESPALIER_LANES addresses[l] = base[l] + add;
    }
}

bool resolve(Warp& warp, Space space, const U64* addresses, U32 bytes, Purpose purpose, Resolved& where)
{
    const bool whole = warp.exec == ~0u;
    switch (space) {
    case Space::Global:
    case Space::Const: {
        const bool counted = space == Space::Global;
        return (whole && resolveGlobalFast(warp, addresses, bytes, purpose, counted, where)) ||
               resolveGlobal(warp, addresses, warp.exec, bytes, purpose, counted, where);
    }
    case Space::Shared:
        return resolveShared(warp, addresses, warp.exec, bytes, purpose, whole, where);
    case Space::Local:
        return resolveLocal(warp, addresses, warp.exec, bytes, purpose, where);
    case Space::Param:
        return resolveParam(warp, addresses, warp.exec, bytes, purpose, where);
    case Space::Generic:
        return (whole && resolveGlobalFast(warp, addresses, bytes, purpose, true, where)) ||
               resolveGeneric(warp, addresses, bytes, purpose, where);
    }
    return false;
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
