// SPDX-License-Identifier: Apache-2.0
// Registers that hold several integers: SIMD video instructions, u16x2 and s16x2 arithmetic.
#include "core/device/sim/handlers_common.h"

#include <algorithm>

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

using U32 = std::uint32_t;
using S32 = std::int32_t;

S32 partOf(U32 value, unsigned index, unsigned bits, bool isSigned)
{
    const U32 raw = value << (32 - bits * (index + 1));
    return isSigned ? static_cast<S32>(raw) >> (32 - bits) : static_cast<S32>(raw >> (32 - bits));
}

S32 computed(VideoOp op, S32 a, S32 b, int comparison)
{
    switch (op) {
    case VideoOp::Add:
        return a + b;
    case VideoOp::Sub:
        return a - b;
    case VideoOp::Average: // rounds away from zero
        return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VideoOp::AbsoluteDifference:
        return std::abs(a - b);
    case VideoOp::Min:
        return std::min(a, b);
    case VideoOp::Max:
        return std::max(a, b);
    case VideoOp::Set: {
        const bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
        return results[comparison] ? 1 : 0;
    }
    }
    return 0;
}

/// imm: bits of a part; imm2: comparison of vset; hi: the sum of the parts and c; negatedC: parts of the result are
/// signed.
bool videoHandler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    const U32* a = at<U32>(warp, instr.a);
    const U32* b = at<U32>(warp, instr.b);
    const U32* c = at<U32>(warp, instr.c);
    const auto bits = static_cast<unsigned>(instr.imm);
    const S32 low = instr.negatedC ? -(1 << (bits - 1)) : 0;
    const S32 high = (1 << (bits - (instr.negatedC ? 1 : 0))) - 1;
    const U32 keep = (1u << bits) - 1;
    for (unsigned l = 0; l < warpLanes; ++l) {
        U32 made = instr.hi ? c[l] : 0;
        for (unsigned i = 0; i < 32 / bits; ++i) {
            const S32 x = partOf(a[l], i, bits, instr.type == Type::S32);
            const S32 y = partOf(b[l], i, bits, instr.type2 == Type::S32);
            S32 r = computed(static_cast<VideoOp>(instr.sub), x, y, instr.imm2);
            r = instr.sat ? std::clamp(r, low, high) : r;
            made = instr.hi ? made + static_cast<U32>(r) : made | (static_cast<U32>(r) & keep) << (i * bits);
        }
        put<true>(d, l, made, warp.mask.data());
    }
    return true;
}

struct Add {
    static S32 run(S32 a, S32 b) { return a + b; }
};
struct Min {
    static S32 run(S32 a, S32 b) { return std::min(a, b); }
};
struct Max {
    static S32 run(S32 a, S32 b) { return std::max(a, b); }
};

template <class F, class Part>
bool pairHandler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    const U32* a = at<U32>(warp, instr.a);
    const U32* b = at<U32>(warp, instr.b);
    const U32* mask = warp.mask.data();
    const auto part = [relu = instr.relu](U32 x, U32 y) -> U32 {
        const S32 r = F::run(static_cast<Part>(x), static_cast<Part>(y));
        return static_cast<std::uint16_t>(relu ? std::max(r, 0) : r);
    };
    ESPALIER_LANES put<true>(d, l, part(a[l] >> 16, b[l] >> 16) << 16 | part(a[l], b[l]), mask);
    return true;
}

template <class F>
bool bindPair(Instr& instr)
{
    const Handler made = instr.type == Type::U16x2 ? pairHandler<F, std::uint16_t> : pairHandler<F, std::int16_t>;
    return !instr.sat && set(instr, made, made);
}

} // namespace

bool bindPacked(Instr& instr)
{
    if (instr.op == Op::Video)
        return set(instr, videoHandler, videoHandler);
    if (instr.type != Type::U16x2 && instr.type != Type::S16x2)
        return false;
    switch (instr.op) {
    case Op::Add:
        return bindPair<Add>(instr);
    case Op::Min:
        return bindPair<Min>(instr);
    case Op::Max:
        return bindPair<Max>(instr);
    default:
        return false;
    }
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
