// SPDX-License-Identifier: Apache-2.0
// Logic, shifts, bit fields, byte permutes, packed dot products, moves.
#include "core/device/sim/handlers_common.h"

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

using U32 = std::uint32_t;
using S32 = std::int32_t;
using U64 = std::uint64_t;

struct And {
    template <class T>
    static T run(T a, T b)
    {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    static T run(T a, T b)
    {
        return static_cast<T>(a | b);
    }
};
struct Xor {
    template <class T>
    static T run(T a, T b)
    {
        return static_cast<T>(a ^ b);
    }
};
struct Not {
    template <class T>
    static T run(T a)
    {
        return static_cast<T>(~a);
    }
};
struct Cnot {
    template <class T>
    static T run(T a)
    {
        return a == 0 ? T{1} : T{0};
    }
};
struct Same {
    template <class T>
    static T run(T a)
    {
        return a;
    }
};
struct Shl {
    template <class T>
    static T run(T a, U32 n)
    {
        constexpr U32 width = sizeof(T) * 8;
        return n >= width ? T{0} : static_cast<T>(a << (n & (width - 1)));
    }
};
struct Shr {
    template <class T>
    static T run(T a, U32 n)
    {
        constexpr U32 width = sizeof(T) * 8;
        if constexpr (std::is_signed_v<T>)
            return static_cast<T>(a >> (n >= width ? width - 1 : n));
        else
            return n >= width ? T{0} : static_cast<T>(a >> (n & (width - 1)));
    }
};
template <bool Clamp>
struct ShfLeft {
    static U32 run(U32 lo, U32 hi, U32 n)
    {
        const U32 s = Clamp ? (n < 32 ? n : 32) : n & 31;
        return static_cast<U32>((((U64{hi} << 32) | lo) << s) >> 32);
    }
};
template <bool Clamp>
struct ShfRight {
    static U32 run(U32 lo, U32 hi, U32 n)
    {
        const U32 s = Clamp ? (n < 32 ? n : 32) : n & 31;
        return static_cast<U32>(((U64{hi} << 32) | lo) >> s);
    }
};
struct Bfe {
    template <class T>
    static T run(T a, U32 position, U32 length)
    {
        constexpr U32 width = sizeof(T) * 8;
        const U32 from = position & 255;
        const U32 count = length & 255;
        if (count == 0)
            return 0;
        using U = std::make_unsigned_t<T>;
        const U32 top = from + count - 1 < width - 1 ? from + count - 1 : width - 1;
        const bool negative = std::is_signed_v<T> && ((static_cast<U>(a) >> top) & 1);
        const U fill = negative ? ~U{0} : U{0};
        U r = from >= width ? fill : static_cast<U>(static_cast<U>(a) >> from);
        if (from != 0 && from < width && negative)
            r |= static_cast<U>(~U{0} << (width - from));
        if (count < width) {
            const U keep = static_cast<U>((U{1} << count) - 1);
            r = static_cast<U>((r & keep) | (fill & ~keep));
        }
        return static_cast<T>(r);
    }
};
struct Popc {
    template <class T>
    static U32 run(T a)
    {
        return static_cast<U32>(std::popcount(a));
    }
};
struct Clz {
    template <class T>
    static U32 run(T a)
    {
        return static_cast<U32>(std::countl_zero(a));
    }
};
struct Brev {
    template <class T>
    static T run(T a)
    {
        T r = 0;
        for (unsigned i = 0; i < sizeof(T) * 8; ++i)
            r = static_cast<T>(r | (((a >> i) & 1) << (sizeof(T) * 8 - 1 - i)));
        return r;
    }
};
template <bool ShiftAmount>
struct Bfind {
    template <class T>
    static U32 run(T a)
    {
        using U = std::make_unsigned_t<T>;
        const U bits = std::is_signed_v<T> && a < 0 ? static_cast<U>(~static_cast<U>(a)) : static_cast<U>(a);
        if (bits == 0)
            return 0xFFFFFFFFu;
        const U32 top = static_cast<U32>(sizeof(T) * 8 - 1) - static_cast<U32>(std::countl_zero(bits));
        return ShiftAmount ? static_cast<U32>(sizeof(T) * 8 - 1) - top : top;
    }
};
struct Bmsk {
    static U32 run(U32 position, U32 length)
    {
        const U64 ones = length >= 32 ? 0xFFFFFFFFu : (U64{1} << length) - 1;
        return position >= 32 ? 0 : static_cast<U32>(ones << position);
    }
};
/// Fields of prmt: mode 0 is the general one, the others as PTX orders them (f4e, b4e, rc8, ecl, ecr, rc16).
U32 permuted(U32 a, U32 b, U32 selector, unsigned mode)
{
    const U64 bytes = (U64{b} << 32) | a;
    U32 s = selector;
    if (mode != 0) {
        static constexpr U32 table[6][4] = {
            {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123}, {0x0000, 0x1111, 0x2222, 0x3333},
            {0x3210, 0x3211, 0x3222, 0x3333}, {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232},
        };
        s = table[mode - 1][selector & 3];
    }
    U32 r = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const U32 pick = (s >> (4 * i)) & 15;
        U32 byte = static_cast<U32>(bytes >> (8 * (pick & 7))) & 255;
        if (pick & 8)
            byte = (byte & 128) ? 255 : 0;
        r |= byte << (8 * i);
    }
    return r;
}

template <bool Masked>
bool permuteHandler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    const U32* a = at<U32>(warp, instr.a);
    const U32* b = at<U32>(warp, instr.b);
    const U32* c = at<U32>(warp, instr.c);
    for (unsigned l = 0; l < warpLanes; ++l)
        put<Masked>(d, l, permuted(a[l], b[l], c[l], instr.sub), warp.mask.data());
    return true;
}

template <bool Masked>
bool lop3Handler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    const U32* a = at<U32>(warp, instr.a);
    const U32* b = at<U32>(warp, instr.b);
    const U32* c = at<U32>(warp, instr.c);
    U32 m[8]; // minterm i counts when bit i of the table is set
    for (unsigned i = 0; i < 8; ++i)
        m[i] = (instr.imm >> i) & 1 ? ~0u : 0u;
    const U32* mask = warp.mask.data();
    ESPALIER_LANES
    {
        const U32 x = a[l], y = b[l], z = c[l];
        const U32 r = (m[0] & ~x & ~y & ~z) | (m[1] & ~x & ~y & z) | (m[2] & ~x & y & ~z) | (m[3] & ~x & y & z) |
                      (m[4] & x & ~y & ~z) | (m[5] & x & ~y & z) | (m[6] & x & y & ~z) | (m[7] & x & y & z);
        put<Masked>(d, l, r, mask);
    }
    return true;
}

/// bfi d, a, b, c, e: the low e bits of a go into b at position c.
template <class T, bool Masked>
bool insertHandler(Warp& warp, const Instr& instr)
{
    constexpr U32 width = sizeof(T) * 8;
    T* d = at<T>(warp, instr.d);
    const T* a = at<T>(warp, instr.a);
    const T* b = at<T>(warp, instr.b);
    const U32* position = at<U32>(warp, instr.c);
    const U32* length = at<U32>(warp, instr.e);
    for (unsigned l = 0; l < warpLanes; ++l) {
        const U32 from = position[l] & 255;
        const U32 count = length[l] & 255;
        const T ones = count >= width ? ~T{0} : static_cast<T>((T{1} << count) - 1);
        const T field = from >= width ? T{0} : static_cast<T>(ones << from);
        const T bits = from >= width ? T{0} : static_cast<T>(a[l] << from);
        put<Masked>(d, l, static_cast<T>((b[l] & ~field) | (bits & field)), warp.mask.data());
    }
    return true;
}

/// dp4a and dp2a; type is the type of a, type2 that of b. hi: dp2a.hi.
template <bool Masked>
bool dotHandler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    const U32* a = at<U32>(warp, instr.a);
    const U32* b = at<U32>(warp, instr.b);
    const U32* c = at<U32>(warp, instr.c);
    const auto part = [](U32 value, unsigned index, unsigned bits, bool negative) -> std::int64_t {
        const U32 raw = (value >> (index * bits)) & ((1u << bits) - 1);
        return negative ? std::int64_t{static_cast<S32>(raw << (32 - bits)) >> (32 - bits)} : std::int64_t{raw};
    };
    const bool signA = instr.type == Type::S32, signB = instr.type2 == Type::S32;
    for (unsigned l = 0; l < warpLanes; ++l) {
        std::int64_t sum = 0;
        if (instr.op == Op::Dp4a)
            for (unsigned i = 0; i < 4; ++i)
                sum += part(a[l], i, 8, signA) * part(b[l], i, 8, signB);
        else
            for (unsigned i = 0; i < 2; ++i)
                sum += part(a[l], i, 16, signA) * part(b[l], i + (instr.hi ? 2 : 0), 8, signB);
        put<Masked>(d, l, static_cast<U32>(c[l] + static_cast<U32>(sum)), warp.mask.data());
    }
    return true;
}

/// fns.b32: position of the n-th set bit from a base.
template <bool Masked>
bool fnsHandler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    const U32* bits = at<U32>(warp, instr.a);
    const U32* base = at<U32>(warp, instr.b);
    const S32* offset = at<S32>(warp, instr.c);
    for (unsigned l = 0; l < warpLanes; ++l) {
        U32 found = 0xFFFFFFFFu;
        S32 left = offset[l] == 0 ? 1 : offset[l] < 0 ? -offset[l] : offset[l];
        const int step = offset[l] < 0 ? -1 : 1;
        const bool baseOnly = offset[l] == 0;
        for (int at = static_cast<int>(base[l] & 31); at >= 0 && at < 32 && left > 0; at += step) {
            if ((bits[l] >> at) & 1 && --left == 0)
                found = static_cast<U32>(at);
            if (baseOnly)
                break;
        }
        put<Masked>(d, l, found, warp.mask.data());
    }
    return true;
}

bool predicateLogic(Warp& warp, const Instr& instr)
{
    const U32 a = lanesOf(warp, instr.a, instr.negatedA);
    const U32 b = instr.b ? lanesOf(warp, instr.b, instr.negatedB) : 0;
    U32 r = a;
    if (instr.op == Op::And)
        r = a & b;
    else if (instr.op == Op::Or)
        r = a | b;
    else if (instr.op == Op::Xor)
        r = a ^ b;
    else if (instr.op == Op::Not)
        r = ~a;
    writePredicate(warp, instr.d, r);
    return true;
}

template <class T, unsigned Bits>
constexpr T partMask = static_cast<T>((U64{1} << Bits) - 1);

/// mov.b32 d, {lo, hi}: elements of equal width into one register. S holds an element, which may be narrower.
template <class D, class S, unsigned Bits = sizeof(S) * 8>
bool packHandler(Warp& warp, const Instr& instr)
{
    D* d = at<D>(warp, instr.d);
    const U32* list = warp.lists + instr.list;
    D made[warpLanes] = {};
    for (unsigned i = 0; i < instr.listCount; ++i) {
        const S* s = at<S>(warp, list[i]);
        ESPALIER_LANES made[l] = static_cast<D>(made[l] | (static_cast<D>(s[l] & partMask<D, Bits>) << (i * Bits)));
    }
    const U32* mask = warp.mask.data();
    ESPALIER_LANES put<true>(d, l, made[l], mask);
    return true;
}

template <class D, class S, unsigned Bits = sizeof(D) * 8>
bool unpackHandler(Warp& warp, const Instr& instr)
{
    const S* s = at<S>(warp, instr.a);
    const U32* list = warp.lists + instr.list;
    alignas(64) S copy[warpLanes]; // an output may be the source
    std::memcpy(copy, s, sizeof copy);
    const U32* mask = warp.mask.data();
    for (unsigned i = 0; i < instr.listCount; ++i) {
        if (list[i] == 0)
            continue; // "_"
        D* d = at<D>(warp, list[i]);
        ESPALIER_LANES put<true>(d, l, static_cast<D>(copy[l] >> (i * Bits) & partMask<S, Bits>), mask);
    }
    return true;
}

bool bindPacking(Instr& instr)
{
    const std::uint32_t whole = bytesOf(instr.type);
    const std::uint32_t part = instr.listCount ? whole / instr.listCount : 0;
    Handler made = nullptr;
    if (instr.op == Op::Pack) {
        if (whole == 8)
            made = part == 4 ? packHandler<U64, U32> : part == 2 ? packHandler<U64, std::uint16_t> : nullptr;
        else if (whole == 4)
            made = part == 2 ? packHandler<U32, std::uint16_t> : packHandler<U32, std::uint16_t, 8>;
        else if (whole == 2)
            made = packHandler<std::uint16_t, std::uint16_t, 8>;
    } else {
        if (whole == 8)
            made = part == 4 ? unpackHandler<U32, U64> : part == 2 ? unpackHandler<std::uint16_t, U64> : nullptr;
        else if (whole == 4)
            made = part == 2 ? unpackHandler<std::uint16_t, U32> : unpackHandler<std::uint16_t, U32, 8>;
        else if (whole == 2)
            made = unpackHandler<std::uint16_t, std::uint16_t, 8>;
    }
    return made && set(instr, made, made);
}

template <class F>
bool widthBinary(Instr& instr)
{
    if (instr.type == Type::Pred)
        return set(instr, predicateLogic, predicateLogic);
    return onWidth(instr.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return setBinary<F, T, T, T>(instr);
    });
}

template <class F>
bool widthUnary(Instr& instr)
{
    if (instr.type == Type::Pred)
        return set(instr, predicateLogic, predicateLogic);
    return onWidth(instr.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return setUnary<F, T, T>(instr);
    });
}

template <class F>
bool counted(Instr& instr)
{
    return bytesOf(instr.type) == 8 ? setUnary<F, U32, U64>(instr) : setUnary<F, U32, U32>(instr);
}

template <class F>
bool shifted(Instr& instr)
{
    return onInteger(instr.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return setBinary<F, T, T, U32>(instr);
    });
}

template <class F>
bool highBit(Instr& instr)
{
    return onInteger(instr.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return sizeof(T) >= 4 && setUnary<F, U32, T>(instr);
    });
}

} // namespace

bool bindBits(Instr& instr)
{
    switch (instr.op) {
    case Op::And:
        return widthBinary<And>(instr);
    case Op::Or:
        return widthBinary<Or>(instr);
    case Op::Xor:
        return widthBinary<Xor>(instr);
    case Op::Not:
        return widthUnary<Not>(instr);
    case Op::Mov:
        return widthUnary<Same>(instr);
    case Op::Cnot:
        return instr.type != Type::Pred && widthUnary<Cnot>(instr);
    case Op::Shl:
        return onWidth(instr.type, [&](auto tag) {
            using T = typename decltype(tag)::type;
            return setBinary<Shl, T, T, U32>(instr);
        });
    case Op::Shr:
        return shifted<Shr>(instr);
    case Op::ShfLeft:
        return instr.hi ? setTernary<ShfLeft<true>, U32, U32, U32, U32>(instr)
                        : setTernary<ShfLeft<false>, U32, U32, U32, U32>(instr);
    case Op::ShfRight:
        return instr.hi ? setTernary<ShfRight<true>, U32, U32, U32, U32>(instr)
                        : setTernary<ShfRight<false>, U32, U32, U32, U32>(instr);
    case Op::Bfe:
        return onInteger(instr.type, [&](auto tag) {
            using T = typename decltype(tag)::type;
            return sizeof(T) >= 4 && setTernary<Bfe, T, T, U32, U32>(instr);
        });
    case Op::Bfi:
        return bytesOf(instr.type) == 8 ? set(instr, insertHandler<U64, false>, insertHandler<U64, true>)
                                        : set(instr, insertHandler<U32, false>, insertHandler<U32, true>);
    case Op::Popc:
        return counted<Popc>(instr);
    case Op::Clz:
        return counted<Clz>(instr);
    case Op::Brev:
        return bytesOf(instr.type) == 8 ? setUnary<Brev, U64, U64>(instr) : setUnary<Brev, U32, U32>(instr);
    case Op::Bfind:
        return instr.hi ? highBit<Bfind<true>>(instr) : highBit<Bfind<false>>(instr);
    case Op::Bmsk:
        return setBinary<Bmsk, U32, U32, U32>(instr);
    case Op::Fns:
        return set(instr, fnsHandler<false>, fnsHandler<true>);
    case Op::Prmt:
        return set(instr, permuteHandler<false>, permuteHandler<true>);
    case Op::Lop3:
        return set(instr, lop3Handler<false>, lop3Handler<true>);
    case Op::Dp4a:
    case Op::Dp2a:
        return set(instr, dotHandler<false>, dotHandler<true>);
    case Op::Pack:
    case Op::Unpack:
        return bindPacking(instr);
    default:
        return false;
    }
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
