// SPDX-License-Identifier: Apache-2.0
// Exchange between the lanes of a warp. The interpreter has gathered the member lanes before a handler runs.
#include "core/device/sim/handlers_common.h"

#include <algorithm>

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

/// The lane a lane reads from, and whether it lies in range (PTX shfl: c holds the segment mask and the clamp).
inline U32 sourceLane(Lanes mode, U32 lane, U32 b, U32 c, bool& inRange)
{
    const U32 segment = (c >> 8) & 31, clamp = c & 31, step = b & 31;
    const U32 top = (lane & segment) | (clamp & ~segment);
    const U32 bottom = lane & segment;
    U32 j = lane;
    switch (mode) {
    case Lanes::Up:
        j = lane - step;
        inRange = static_cast<std::int32_t>(j) >= static_cast<std::int32_t>(top);
        break;
    case Lanes::Down:
        j = lane + step;
        inRange = j <= top;
        break;
    case Lanes::Bfly:
        j = lane ^ step;
        inRange = j <= top;
        break;
    case Lanes::Idx:
        j = bottom | (step & ~segment);
        inRange = j <= top;
        break;
    }
    return inRange ? j & 31 : lane;
}

/// A lane that is not active has no value to give: the reader keeps its own.
bool shuffleHandler(Warp& warp, const Instr& instr)
{
    alignas(64) U32 source[warpLanes];
    std::memcpy(source, at<U32>(warp, instr.a), sizeof source);
    const U32* b = at<U32>(warp, instr.b);
    const U32* c = at<U32>(warp, instr.c);
    U32* d = instr.d ? at<U32>(warp, instr.d) : nullptr;
    const auto mode = static_cast<Lanes>(instr.sub);
    U32 ranges = 0;
    alignas(64) U32 made[warpLanes];
    for (unsigned l = 0; l < warpLanes; ++l) {
        bool inRange = false;
        const U32 j = sourceLane(mode, l, b[l], c[l], inRange);
        made[l] = (warp.exec >> j) & 1 ? source[j] : source[l];
        ranges |= static_cast<U32>(inRange) << l;
    }
    const U32* mask = warp.mask.data();
    if (d)
        ESPALIER_LANES put<true>(d, l, made[l], mask);
    writePredicate(warp, instr.d2, ranges);
    ++warp.launch->counters.shuffles;
    return true;
}

bool voteHandler(Warp& warp, const Instr& instr)
{
    const U32 yes = lanesOf(warp, instr.a, instr.negatedA) & warp.exec;
    switch (static_cast<VoteMode>(instr.sub)) {
    case VoteMode::Ballot: {
        U32* d = at<U32>(warp, instr.d);
        const U32* mask = warp.mask.data();
        ESPALIER_LANES put<true>(d, l, yes, mask);
        break;
    }
    case VoteMode::All:
        writePredicate(warp, instr.d, yes == warp.exec ? ~0u : 0u);
        break;
    case VoteMode::Any:
        writePredicate(warp, instr.d, yes ? ~0u : 0u);
        break;
    case VoteMode::Uni:
        writePredicate(warp, instr.d, yes == 0 || yes == warp.exec ? ~0u : 0u);
        break;
    }
    return true;
}

template <class T>
bool matchHandler(Warp& warp, const Instr& instr)
{
    const T* a = at<T>(warp, instr.a);
    U32 made[warpLanes] = {};
    bool allSame = true;
    const T first = a[std::countr_zero(warp.exec)];
    for (unsigned l = 0; l < warpLanes; ++l) {
        if (!((warp.exec >> l) & 1))
            continue;
        allSame = allSame && a[l] == first;
        for (unsigned j = 0; j < warpLanes; ++j)
            made[l] |= static_cast<U32>(((warp.exec >> j) & 1) && a[j] == a[l]) << j;
    }
    if (static_cast<MatchMode>(instr.sub) == MatchMode::All) {
        for (U32& m : made)
            m = allSame ? warp.exec : 0;
        writePredicate(warp, instr.d2, allSame ? ~0u : 0u);
    }
    if (instr.d)
        for (unsigned l = 0; l < warpLanes; ++l)
            put<true>(at<U32>(warp, instr.d), l, made[l], warp.mask.data());
    return true;
}

template <class T>
bool reduxHandler(Warp& warp, const Instr& instr)
{
    const T* a = at<T>(warp, instr.a);
    T r = a[std::countr_zero(warp.exec)];
    for (U32 left = warp.exec & (warp.exec - 1); left; left &= left - 1) {
        const T x = a[std::countr_zero(left)];
        switch (static_cast<AtomicOp>(instr.sub)) {
        case AtomicOp::Add:
            r = static_cast<T>(static_cast<U32>(r) + static_cast<U32>(x));
            break;
        case AtomicOp::Min:
            r = std::min(r, x);
            break;
        case AtomicOp::Max:
            r = std::max(r, x);
            break;
        case AtomicOp::And:
            r &= x;
            break;
        case AtomicOp::Or:
            r |= x;
            break;
        default:
            r ^= x;
            break;
        }
    }
    T* d = at<T>(warp, instr.d);
    ESPALIER_LANES put<true>(d, l, r, warp.mask.data());
    return true;
}

bool activemaskHandler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    ESPALIER_LANES put<true>(d, l, warp.exec, warp.mask.data());
    return true;
}

/// elect.sync d|p, mask: the lowest member lane leads.
bool electHandler(Warp& warp, const Instr& instr)
{
    const U32 leader = static_cast<U32>(std::countr_zero(warp.exec));
    if (instr.d)
        for (unsigned l = 0; l < warpLanes; ++l)
            put<true>(at<U32>(warp, instr.d), l, leader, warp.mask.data());
    writePredicate(warp, instr.d2, 1u << leader);
    return true;
}

} // namespace

bool bindWarp(Instr& instr)
{
    switch (instr.op) {
    case Op::Shuffle:
        return set(instr, shuffleHandler, shuffleHandler);
    case Op::Vote:
        return set(instr, voteHandler, voteHandler);
    case Op::Match:
        return bytesOf(instr.type) == 8 ? set(instr, matchHandler<U64>, matchHandler<U64>)
                                        : set(instr, matchHandler<U32>, matchHandler<U32>);
    case Op::Redux:
        return instr.type == Type::S32 ? set(instr, reduxHandler<std::int32_t>, reduxHandler<std::int32_t>)
                                       : set(instr, reduxHandler<U32>, reduxHandler<U32>);
    case Op::Activemask:
        return set(instr, activemaskHandler, activemaskHandler);
    case Op::Elect:
        return set(instr, electHandler, electHandler);
    default:
        return false;
    }
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
