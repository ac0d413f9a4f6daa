// SPDX-License-Identifier: Apache-2.0
// PTX names a new register for almost every value; given a place each, the frames of a block's warps would leave the
// caches. A linear scan over the ordered code lets values that are never alive together share a place. Lanes never read
// each other's registers but in shuffles, where all of them stand at one instruction, so liveness along a lane's own
// path is all that counts.
#include "core/device/sim/blocks.h"
#include "core/device/sim/decoder.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

namespace espalier::sim {

namespace {

constexpr std::uint32_t laneAlignment = 64;
constexpr std::size_t mostLivenessBits = std::size_t{1} << 29;

template <class F>
void eachUse(const Kernel& kernel, const Instr& instr, F made)
{
    for (const std::uint32_t slot : {instr.a, instr.b, instr.c, instr.e, instr.guard})
        if (slot)
            made(slot);
    if (!instr.listIsOutput && instr.op != Op::Trap)
        for (std::uint32_t k = 0; k < instr.listCount; ++k)
            if (kernel.lists[instr.list + k])
                made(kernel.lists[instr.list + k]);
}

template <class F>
void eachResult(const Kernel& kernel, const Instr& instr, F made)
{
    for (const std::uint32_t slot : {instr.d, instr.d2})
        if (slot)
            made(slot);
    if (instr.listIsOutput)
        for (std::uint32_t k = 0; k < instr.listCount; ++k)
            if (kernel.lists[instr.list + k])
                made(kernel.lists[instr.list + k]);
}

class BitSet
{
public:
    explicit BitSet(std::size_t bits) : m_words((bits + 63) / 64) {}
    void set(std::size_t i) { m_words[i / 64] |= std::uint64_t{1} << (i % 64); }
    void clear(std::size_t i) { m_words[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
    bool has(std::size_t i) const { return m_words[i / 64] >> (i % 64) & 1; }
    /// this |= (other & ~without); true when it grew.
    bool merge(const BitSet& other, const BitSet* without)
    {
        bool grew = false;
        for (std::size_t w = 0; w < m_words.size(); ++w) {
            const std::uint64_t add = other.m_words[w] & ~(without ? without->m_words[w] : 0) & ~m_words[w];
            grew = grew || add != 0;
            m_words[w] |= add;
        }
        return grew;
    }
    template <class F>
    void each(F made) const
    {
        for (std::size_t w = 0; w < m_words.size(); ++w)
            for (std::uint64_t left = m_words[w]; left; left &= left - 1)
                made(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(left))));
    }

private:
    std::vector<std::uint64_t> m_words;
};

struct Interval {
    std::uint32_t slot = 0;
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = 0;

    void include(std::uint64_t at)
    {
        first = std::min(first, at);
        last = std::max(last, at);
    }
};

/// Where each slot holds a value, in half steps: an instruction reads at 2i and writes at 2i + 1.
std::vector<Interval> liveIntervals(const Kernel& kernel, std::size_t slots)
{
    const std::vector<Block> blocks = findBlocks(kernel);
    std::vector<BitSet> liveIn(blocks.size(), BitSet(slots)), liveOut = liveIn, written = liveIn;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        for (std::uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
            const Instr& instr = kernel.code[i];
            eachUse(kernel, instr, [&](std::uint32_t slot) {
                if (!written[b].has(slot))
                    liveIn[b].set(slot);
            });
            eachResult(kernel, instr, [&](std::uint32_t slot) {
                if (instr.guard == 0)
                    written[b].set(slot);
                else if (!written[b].has(slot))
                    liveIn[b].set(slot); // a guarded write keeps the old value in some lanes
            });
        }
    }
    for (bool grew = true; grew;) {
        grew = false;
        for (std::size_t b = blocks.size(); b-- > 0;) {
            for (const std::uint32_t target : blocks[b].targets)
                grew = liveOut[b].merge(liveIn[target], nullptr) || grew;
            if (blocks[b].falls)
                grew = liveOut[b].merge(liveIn[b + 1], nullptr) || grew;
            grew = liveIn[b].merge(liveOut[b], &written[b]) || grew;
        }
    }
    std::vector<Interval> intervals(slots);
    for (std::uint32_t slot = 0; slot < slots; ++slot)
        intervals[slot].slot = slot;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        liveIn[b].each([&](std::uint32_t slot) { intervals[slot].include(2 * std::uint64_t{blocks[b].begin}); });
        liveOut[b].each([&](std::uint32_t slot) { intervals[slot].include(2 * std::uint64_t{blocks[b].end}); });
        for (std::uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
            const Instr& instr = kernel.code[i];
            const std::uint64_t at = 2 * std::uint64_t{i};
            // With one result a lane is read before it is written; with several a place must not be shared.
            const bool several = instr.d2 != 0 || instr.listCount != 0;
            eachUse(kernel, instr, [&](std::uint32_t slot) { intervals[slot].include(several ? at + 1 : at); });
            eachResult(kernel, instr, [&](std::uint32_t slot) { intervals[slot].include(at + 1); });
        }
    }
    return intervals;
}

/// Hands out places; freed ones are used again, the latest first because it is still in the cache.
class Places
{
public:
    std::uint32_t take(std::uint32_t width)
    {
        auto& free = m_free[width];
        if (!free.empty()) {
            const std::uint32_t place = free.back();
            free.pop_back();
            return place;
        }
        const std::uint32_t bytes = width == 0 ? 4 : width * warpLanes;
        const std::uint32_t alignment = width == 0 ? 4 : laneAlignment;
        if (width == 0 && m_predicateSpace == 0) {
            m_predicateNext = (m_end + laneAlignment - 1) / laneAlignment * laneAlignment;
            m_end = m_predicateNext + laneAlignment;
            m_predicateSpace = laneAlignment / 4;
        }
        if (width == 0) {
            --m_predicateSpace;
            const std::uint32_t place = m_predicateNext;
            m_predicateNext += 4;
            return place;
        }
        const std::uint32_t place = (m_end + alignment - 1) / alignment * alignment;
        m_end = place + bytes;
        return place;
    }
    void give(std::uint32_t width, std::uint32_t place) { m_free[width].push_back(place); }
    std::uint32_t end() const { return m_end; }

private:
    std::map<std::uint32_t, std::vector<std::uint32_t>> m_free;
    std::uint32_t m_end = laneAlignment; // offset 0 means none
    std::uint32_t m_predicateNext = 0;
    std::uint32_t m_predicateSpace = 0;
};

void scan(std::vector<Interval> intervals, const std::vector<std::uint32_t>& widths, const std::vector<bool>& fixed,
          Places& places, std::vector<std::uint32_t>& placeOf)
{
    std::erase_if(intervals, [&](const Interval& i) { return i.slot == 0 || fixed[i.slot] || i.last < i.first; });
    std::ranges::sort(intervals, [](const Interval& a, const Interval& b) {
        return std::pair{a.first, a.slot} < std::pair{b.first, b.slot};
    });
    std::multimap<std::uint64_t, std::uint32_t> active; // last → slot
    for (const Interval& interval : intervals) {
        while (!active.empty() && active.begin()->first < interval.first) {
            const std::uint32_t slot = active.begin()->second;
            places.give(widths[slot], placeOf[slot]);
            active.erase(active.begin());
        }
        placeOf[interval.slot] = places.take(widths[interval.slot]);
        active.emplace(interval.last, interval.slot);
    }
}

} // namespace

void layOutFrame(Kernel& kernel, const std::vector<std::uint32_t>& widths, const std::vector<bool>& fixed)
{
    const std::size_t slots = widths.size();
    Places places;
    std::vector<std::uint32_t> placeOf(slots, 0);
    for (std::size_t slot = 1; slot < slots; ++slot)
        if (fixed[slot])
            placeOf[slot] = places.take(widths[slot]);
    const std::size_t blocks = findBlocks(kernel).size();
    if (slots * blocks <= mostLivenessBits) {
        scan(liveIntervals(kernel, slots), widths, fixed, places, placeOf);
    } else {
        for (std::size_t slot = 1; slot < slots; ++slot)
            if (!fixed[slot])
                placeOf[slot] = places.take(widths[slot]);
    }
    for (Instr& instr : kernel.code) {
        for (std::uint32_t* field : {&instr.d, &instr.d2, &instr.a, &instr.b, &instr.c, &instr.e, &instr.guard})
            *field = placeOf[*field];
        if (instr.op != Op::Trap)
            for (std::uint32_t k = 0; k < instr.listCount; ++k) {
                kernel.lists[instr.list + k] = placeOf[kernel.lists[instr.list + k]];
            }
    }
    for (Constant& constant : kernel.constants)
        constant.slot = placeOf[constant.slot];
    for (SpecialSlot& special : kernel.specials)
        special.slot = placeOf[special.slot];
    kernel.frameBytes = (places.end() + 4095) / 4096 * 4096 + laneAlignment; // spread warps over cache sets
}

} // namespace espalier::sim
