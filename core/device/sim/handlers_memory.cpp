// SPDX-License-Identifier: Apache-2.0
// Loads, stores, cp.async, address conversions.
#include "core/device/sim/memory_access.h"

#include <algorithm>

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
T readAt(const std::byte* from)
{
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
void writeAt(std::byte* to, T value)
{
    std::memcpy(to, &value, sizeof value);
}

/// Count elements of M in memory a lane, each into a register of R (sign-extended when M is signed).
template <class M, class R, unsigned Count>
bool loadHandler(Warp& warp, const Instr& instr)
{
    constexpr U32 bytes = sizeof(M) * Count;
    alignas(64) U64 addresses[warpLanes];
    addressesOf(warp, instr.a, instr.wideAddress, instr.imm, addresses);
    Resolved where;
    if (!resolve(warp, instr.space, addresses, bytes, Purpose::Read, where))
        return false;
    for (unsigned k = 0; k < Count; ++k) {
        const U32 slot = Count == 1 ? instr.d : warp.lists[instr.list + k];
        if (slot == 0)
            continue; // "_"
        R* d = at<R>(warp, slot);
        const std::byte* base = where.base + k * sizeof(M);
        if (where.uniform) {
            const R value = static_cast<R>(readAt<M>(base));
            ESPALIER_LANES d[l] = value;
        } else if (where.contiguous) {
            ESPALIER_LANES d[l] = static_cast<R>(readAt<M>(base + l * bytes));
        } else {
            for (U32 left = warp.exec; left; left &= left - 1) {
                const U32 l = static_cast<U32>(std::countr_zero(left));
                d[l] = static_cast<R>(readAt<M>(where.lane[l] + k * sizeof(M)));
            }
        }
    }
    return true;
}

template <class M, class R, unsigned Count>
bool storeHandler(Warp& warp, const Instr& instr)
{
    constexpr U32 bytes = sizeof(M) * Count;
    alignas(64) U64 addresses[warpLanes];
    addressesOf(warp, instr.a, instr.wideAddress, instr.imm, addresses);
    Resolved where;
    if (!resolve(warp, instr.space, addresses, bytes, Purpose::Write, where))
        return false;
    const R* s[Count];
    for (unsigned k = 0; k < Count; ++k)
        s[k] = at<R>(warp, Count == 1 ? instr.b : warp.lists[instr.list + k]);
    if (where.contiguous) {
        for (unsigned k = 0; k < Count; ++k) {
            std::byte* base = where.base + k * sizeof(M);
            ESPALIER_LANES writeAt(base + l * bytes, static_cast<M>(s[k][l]));
        }
        return true;
    }
    // Lane after lane: where two lanes write the same bytes the higher one stays.
    for (U32 left = warp.exec; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        std::byte* to = where.uniform ? where.base : where.lane[l];
        for (unsigned k = 0; k < Count; ++k)
            writeAt(to + k * sizeof(M), static_cast<M>(s[k][l]));
    }
    return true;
}

template <class M, class R>
Handler loadOf(unsigned count)
{
    switch (count) {
    case 1:
        return loadHandler<M, R, 1>;
    case 2:
        return loadHandler<M, R, 2>;
    case 4:
        return loadHandler<M, R, 4>;
    case 8:
        return sizeof(M) == 4 ? loadHandler<M, R, 8> : nullptr;
    default:
        return nullptr;
    }
}

template <class M, class R>
Handler storeOf(unsigned count)
{
    switch (count) {
    case 1:
        return storeHandler<M, R, 1>;
    case 2:
        return storeHandler<M, R, 2>;
    case 4:
        return storeHandler<M, R, 4>;
    case 8:
        return sizeof(M) == 4 ? storeHandler<M, R, 8> : nullptr;
    default:
        return nullptr;
    }
}

template <class M>
Handler loadInto(unsigned width, unsigned count)
{
    using S = std::conditional_t<std::is_signed_v<M>, std::int64_t, U64>;
    if (width == 8)
        return loadOf<M, std::conditional_t<std::is_signed_v<S>, std::int64_t, U64>>(count);
    if constexpr (sizeof(M) <= 4)
        if (width == 4)
            return loadOf<M, std::conditional_t<std::is_signed_v<S>, std::int32_t, U32>>(count);
    if constexpr (sizeof(M) <= 2)
        if (width == 2)
            return loadOf<M, std::conditional_t<std::is_signed_v<S>, std::int16_t, U16>>(count);
    return nullptr;
}

template <class M>
Handler storeFrom(unsigned width, unsigned count)
{
    if (width == 8)
        return storeOf<M, U64>(count);
    if constexpr (sizeof(M) <= 4)
        if (width == 4)
            return storeOf<M, U32>(count);
    if constexpr (sizeof(M) <= 2)
        if (width == 2)
            return storeOf<M, U16>(count);
    return nullptr;
}

bool bindLoad(Instr& instr)
{
    const unsigned count = instr.listCount ? instr.listCount : 1;
    Handler made = nullptr;
    switch (instr.type) {
    case Type::S8:
        made = loadInto<std::int8_t>(instr.widthD, count);
        break;
    case Type::S16:
        made = loadInto<std::int16_t>(instr.widthD, count);
        break;
    case Type::S32:
        made = loadInto<std::int32_t>(instr.widthD, count);
        break;
    default:
        switch (bytesOf(instr.type)) {
        case 1:
            made = loadInto<U8>(instr.widthD, count);
            break;
        case 2:
            made = loadInto<U16>(instr.widthD, count);
            break;
        case 4:
            made = loadInto<U32>(instr.widthD, count);
            break;
        case 8:
            made = loadInto<U64>(instr.widthD, count);
            break;
        default:
            break;
        }
    }
    return made && bytesOf(instr.type) * count <= 32 && set(instr, made, made);
}

bool bindStore(Instr& instr)
{
    const unsigned count = instr.listCount ? instr.listCount : 1;
    Handler made = nullptr;
    switch (bytesOf(instr.type)) {
    case 1:
        made = storeFrom<U8>(instr.widthA, count);
        break;
    case 2:
        made = storeFrom<U16>(instr.widthA, count);
        break;
    case 4:
        made = storeFrom<U32>(instr.widthA, count);
        break;
    case 8:
        made = storeFrom<U64>(instr.widthA, count);
        break;
    default:
        break;
    }
    return made && bytesOf(instr.type) * count <= 32 && set(instr, made, made);
}

/// cp.async: a destination in shared memory, b source in global memory, c source bytes, e predicate to ignore the
/// source.
bool copyHandler(Warp& warp, const Instr& instr)
{
    const U32 bytes = instr.sub;
    alignas(64) U64 to[warpLanes], from[warpLanes];
    addressesOf(warp, instr.a, instr.wideAddress, instr.imm, to);
    addressesOf(warp, instr.b, true, instr.imm2, from);
    const U32 ignored = instr.e ? predicate(warp, instr.e) : 0;
    U32 taken[warpLanes];
    U32 reading = 0;
    for (unsigned l = 0; l < warpLanes; ++l) {
        const U32 asked = instr.c ? at<U32>(warp, instr.c)[l] : bytes;
        taken[l] = (ignored >> l) & 1 ? 0 : std::min(asked, bytes);
        reading |= static_cast<U32>(taken[l] != 0) << l;
    }
    const U32 all = warp.exec;
    Resolved source, destination;
    warp.exec = all & reading;
    const bool sourceOk = warp.exec == 0 || resolve(warp, Space::Global, from, bytes, Purpose::Read, source);
    warp.exec = all;
    if (!sourceOk || !resolve(warp, Space::Shared, to, bytes, Purpose::Write, destination))
        return false;
    for (U32 left = all; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        const std::byte* at = source.contiguous ? source.base + l * bytes : source.uniform ? source.base : nullptr;
        if (!at && (reading >> l) & 1)
            at = source.lane[l];
        warp.copies.push_back({at, static_cast<U32>(to[l]), warp.copyGroups[l], static_cast<U8>(l),
                               static_cast<U8>(bytes), static_cast<U8>(taken[l])});
    }
    return true;
}

bool commitHandler(Warp& warp, const Instr&)
{
    for (U32 left = warp.exec; left; left &= left - 1)
        ++warp.copyGroups[static_cast<std::size_t>(std::countr_zero(left))];
    return true;
}

/// cp.async.wait_group imm: all but the imm latest groups are done; imm < 0: everything.
bool waitHandler(Warp& warp, const Instr& instr)
{
    BlockState& block = *warp.block;
    const auto ready = [&](const PendingCopy& copy) {
        if (!((warp.exec >> copy.lane) & 1))
            return false;
        return instr.imm < 0 || std::int64_t{copy.group} + instr.imm < std::int64_t{warp.copyGroups[copy.lane]};
    };
    std::size_t kept = 0;
    for (const PendingCopy& copy : warp.copies) {
        if (!ready(copy)) {
            warp.copies[kept++] = copy;
            continue;
        }
        finishCopy(block, copy);
    }
    warp.copies.resize(kept);
    return true;
}

U64 windowOf(Space space)
{
    switch (space) {
    case Space::Shared:
        return sharedWindow;
    case Space::Local:
        return localWindow;
    case Space::Param:
        return paramWindow;
    default:
        return 0;
    }
}

/// cvta.space (hi false) adds the window, cvta.to.space takes it away. Global and const windows begin at 0.
template <class T>
bool cvtaHandler(Warp& warp, const Instr& instr)
{
    T* d = at<T>(warp, instr.d);
    const T* a = at<T>(warp, instr.a);
    const U64 window = windowOf(instr.space);
    const T add = static_cast<T>(instr.hi ? 0 - window : window);
    const U32* mask = warp.mask.data();
    ESPALIER_LANES put<true>(d, l, static_cast<T>(a[l] + add), mask);
    return true;
}

bool isspacepHandler(Warp& warp, const Instr& instr)
{
    const U64* a = at<U64>(warp, instr.a);
    const U64 wanted = windowOf(instr.space) >> 56;
    U32 bits = 0;
    for (unsigned l = 0; l < warpLanes; ++l)
        bits |= static_cast<U32>(instr.space != Space::Const && (a[l] >> 56) == wanted) << l;
    writePredicate(warp, instr.d, bits);
    return true;
}

/// Clocks tick once per issued warp instruction: deterministic, and always forward.
bool clockHandler(Warp& warp, const Instr& instr)
{
    const U64 now = warp.launch->counters.warpInstructions + ++warp.launch->clock;
    const U32* mask = warp.mask.data();
    if (instr.widthD == 8) {
        ESPALIER_LANES put<true>(at<U64>(warp, instr.d), l, now, mask);
    } else {
        const U32 part = static_cast<U32>(instr.hi ? now >> 32 : now);
        ESPALIER_LANES put<true>(at<U32>(warp, instr.d), l, part, mask);
    }
    return true;
}

} // namespace

bool bindMemory(Instr& instr)
{
    switch (instr.op) {
    case Op::Load:
        return bindLoad(instr);
    case Op::Store:
        return bindStore(instr);
    case Op::CpAsync:
        return set(instr, copyHandler, copyHandler);
    case Op::CpAsyncCommit:
        return set(instr, commitHandler, commitHandler);
    case Op::CpAsyncWait:
        return set(instr, waitHandler, waitHandler);
    case Op::Cvta:
        return bytesOf(instr.type) == 8 ? set(instr, cvtaHandler<U64>, cvtaHandler<U64>)
                                        : bytesOf(instr.type) == 4 && set(instr, cvtaHandler<U32>, cvtaHandler<U32>);
    case Op::Isspacep:
        return set(instr, isspacepHandler, isspacepHandler);
    case Op::Clock:
        return set(instr, clockHandler, clockHandler);
    default:
        return false;
    }
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
