// SPDX-License-Identifier: Apache-2.0
// atom and red, lane after lane. d is 0 for red.
#include "core/device/sim/memory_access.h"
#include "core/device/sim/small_float.h"

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
T combineInteger(AtomicOp op, T old, T b, T c)
{
    using U = std::make_unsigned_t<T>;
    switch (op) {
    case AtomicOp::Add:
        return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
    case AtomicOp::Exch:
        return b;
    case AtomicOp::Cas:
        return old == b ? c : old;
    case AtomicOp::Min:
        return b < old ? b : old;
    case AtomicOp::Max:
        return b > old ? b : old;
    case AtomicOp::Inc:
        return old >= b ? T{0} : static_cast<T>(old + 1);
    case AtomicOp::Dec:
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
    case AtomicOp::And:
        return old & b;
    case AtomicOp::Or:
        return old | b;
    case AtomicOp::Xor:
        return old ^ b;
    }
    return old;
}

template <class T>
struct Integer {
    using Lane = T;
    static T run(AtomicOp op, T old, T b, T c) { return combineInteger(op, old, b, c); }
};
template <class T>
struct Floating {
    using Lane = T;
    static T run(AtomicOp op, T old, T b, T)
    {
        switch (op) {
        case AtomicOp::Add:
            return old + b;
        case AtomicOp::Min:
            return b < old || old != old ? b : old;
        case AtomicOp::Max:
            return b > old || old != old ? b : old;
        default:
            return b;
        }
    }
};
template <bool IsHalf>
struct Small {
    static float wide(U16 x) { return IsHalf ? halfToFloat(x) : bfloatToFloat(x); }
    static U16 narrow(float x) { return IsHalf ? floatToHalf(x) : floatToBfloat(x); }
    static U16 one(AtomicOp op, U16 old, U16 b)
    {
        if (op == AtomicOp::Add)
            return narrow(wide(old) + wide(b));
        const bool less = wide(b) < wide(old);
        return (op == AtomicOp::Min) == less ? b : old;
    }
};
template <bool IsHalf>
struct SmallOne {
    using Lane = U16;
    static U16 run(AtomicOp op, U16 old, U16 b, U16) { return Small<IsHalf>::one(op, old, b); }
};
template <bool IsHalf>
struct SmallPair {
    using Lane = U32;
    static U32 run(AtomicOp op, U32 old, U32 b, U32)
    {
        const U16 low = Small<IsHalf>::one(op, static_cast<U16>(old), static_cast<U16>(b));
        const U16 high = Small<IsHalf>::one(op, static_cast<U16>(old >> 16), static_cast<U16>(b >> 16));
        return (U32{high} << 16) | low;
    }
};

template <class F>
bool atomicHandler(Warp& warp, const Instr& instr)
{
    using T = typename F::Lane;
    alignas(64) U64 addresses[warpLanes];
    addressesOf(warp, instr.a, instr.wideAddress, instr.imm, addresses);
    Resolved where;
    const U32 count = instr.listCount ? instr.listCount : 1;
    if (!resolve(warp, instr.space, addresses, static_cast<U32>(sizeof(T)) * count, Purpose::Update, where))
        return false;
    const auto op = static_cast<AtomicOp>(instr.sub);
    const T* c = instr.c ? at<T>(warp, instr.c) : nullptr;
    for (U32 left = warp.exec; left; left &= left - 1) {
        const U32 l = static_cast<U32>(std::countr_zero(left));
        std::byte* place = where.contiguous ? where.base + l * sizeof(T) * count
                           : where.uniform  ? where.base
                                            : where.lane[l];
        for (U32 k = 0; k < count; ++k) {
            const T* b = at<T>(warp, instr.listCount ? warp.lists[instr.list + k] : instr.b);
            T old;
            std::memcpy(&old, place + k * sizeof(T), sizeof old);
            const T fresh = F::run(op, old, b[l], c ? c[l] : T{});
            std::memcpy(place + k * sizeof(T), &fresh, sizeof fresh);
            if (instr.d)
                at<T>(warp, instr.d)[l] = old;
        }
    }
    warp.launch->counters.atomics += static_cast<U64>(std::popcount(warp.exec));
    return true;
}

bool floatingOp(const Instr& instr)
{
    const auto op = static_cast<AtomicOp>(instr.sub);
    return op == AtomicOp::Add || op == AtomicOp::Min || op == AtomicOp::Max || op == AtomicOp::Exch;
}

} // namespace

bool bindAtomic(Instr& instr)
{
    if (instr.op != Op::Atomic)
        return false;
    Handler made = nullptr;
    switch (instr.type) {
    case Type::U32:
    case Type::B32:
        made = atomicHandler<Integer<U32>>;
        break;
    case Type::S32:
        made = atomicHandler<Integer<std::int32_t>>;
        break;
    case Type::U64:
    case Type::B64:
        made = atomicHandler<Integer<U64>>;
        break;
    case Type::S64:
        made = atomicHandler<Integer<std::int64_t>>;
        break;
    case Type::B16:
    case Type::U16:
        made = atomicHandler<Integer<U16>>;
        break;
    case Type::F32:
        made = floatingOp(instr) ? atomicHandler<Floating<float>> : nullptr;
        break;
    case Type::F64:
        made = floatingOp(instr) ? atomicHandler<Floating<double>> : nullptr;
        break;
    case Type::F16:
        made = floatingOp(instr) ? atomicHandler<SmallOne<true>> : nullptr;
        break;
    case Type::BF16:
        made = floatingOp(instr) ? atomicHandler<SmallOne<false>> : nullptr;
        break;
    case Type::F16x2:
        made = floatingOp(instr) ? atomicHandler<SmallPair<true>> : nullptr;
        break;
    case Type::BF16x2:
        made = floatingOp(instr) ? atomicHandler<SmallPair<false>> : nullptr;
        break;
    default:
        break;
    }
    return made && (!instr.listCount || !instr.d) && set(instr, made, made);
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
