// SPDX-License-Identifier: Apache-2.0
// setp, set, selp, slct.
#include "core/device/sim/handlers_common.h"
#include "core/device/sim/small_float.h"

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

template <Compare C>
struct Test {
    template <class T>
    static bool run(T a, T b)
    {
        switch (C) {
        case Compare::Eq:
            return a == b;
        case Compare::Ne:
            return a < b || a > b;
        case Compare::Lt:
            return a < b;
        case Compare::Le:
            return a <= b;
        case Compare::Gt:
            return a > b;
        case Compare::Ge:
            return a >= b;
        case Compare::Equ:
            return !(a < b || a > b);
        case Compare::Neu:
            return a != b;
        case Compare::Ltu:
            return !(a >= b);
        case Compare::Leu:
            return !(a > b);
        case Compare::Gtu:
            return !(a <= b);
        case Compare::Geu:
            return !(a < b);
        case Compare::Num:
            return a == a && b == b;
        case Compare::Nan:
            return a != a || b != b;
        }
        return false;
    }
};

/// How operands of a type are read: T holds the lane, V is compared.
template <class T, class V>
struct Reader {
    static V read(T x) { return static_cast<V>(x); }
};
struct HalfReader {
    static float read(std::uint16_t x) { return halfToFloat(x); }
};
struct BfloatReader {
    static float read(std::uint16_t x) { return bfloatToFloat(x); }
};
struct FlushReader {
    static float read(float x) { return flushed(x); }
};

using Comparer = std::uint32_t (*)(const Warp&, const Instr&);

template <Compare C, class T, class R>
std::uint32_t compareLanes(const Warp& warp, const Instr& instr)
{
    const T* a = at<T>(warp, instr.a);
    const T* b = at<T>(warp, instr.b);
    if constexpr (sizeof(T) == 8) {
        alignas(64) std::uint64_t wide[warpLanes];
        ESPALIER_LANES wide[l] = Test<C>::run(R::read(a[l]), R::read(b[l])) ? ~std::uint64_t{0} : 0;
        alignas(64) std::uint32_t lanes[warpLanes];
        ESPALIER_LANES lanes[l] = static_cast<std::uint32_t>(wide[l]);
        return packMask(lanes);
    } else {
        alignas(64) std::uint32_t lanes[warpLanes];
        ESPALIER_LANES lanes[l] = Test<C>::run(R::read(a[l]), R::read(b[l])) ? ~0u : 0u;
        return packMask(lanes);
    }
}

std::uint32_t combined(std::uint32_t result, const Warp& warp, const Instr& instr)
{
    if (instr.combine == Combine::None)
        return result;
    const std::uint32_t c = lanesOf(warp, instr.c, instr.negatedC);
    return instr.combine == Combine::And ? result & c : instr.combine == Combine::Or ? result | c : result ^ c;
}

/// setp d|d2: d2 gets the combination with the opposite comparison.
template <Compare C, class T, class R>
bool setpHandler(Warp& warp, const Instr& instr)
{
    const std::uint32_t result = compareLanes<C, T, R>(warp, instr);
    const std::uint32_t first = combined(result, warp, instr);
    const std::uint32_t second = combined(~result, warp, instr);
    writePredicate(warp, instr.d, first);
    writePredicate(warp, instr.d2, second);
    return true;
}

/// What set gives where the comparison holds: 1.0 of a float type, else all ones.
std::uint32_t trueOf(Type type)
{
    switch (type) {
    case Type::F32:
        return 0x3F800000u;
    case Type::F16:
    case Type::F16x2:
        return 0x3C00u;
    case Type::BF16:
    case Type::BF16x2:
        return 0x3F80u;
    default:
        return ~0u;
    }
}

template <Compare C, class T, class R>
bool setHandler(Warp& warp, const Instr& instr)
{
    const std::uint32_t result = combined(compareLanes<C, T, R>(warp, instr), warp, instr);
    const std::uint32_t yes = trueOf(instr.type2);
    const std::uint32_t* mask = warp.mask.data();
    if (bytesOf(instr.type2) == 2) {
        auto* d = at<std::uint16_t>(warp, instr.d);
        ESPALIER_LANES put<true>(d, l, static_cast<std::uint16_t>((result >> l) & 1 ? yes : 0u), mask);
    } else {
        auto* d = at<std::uint32_t>(warp, instr.d);
        ESPALIER_LANES put<true>(d, l, (result >> l) & 1 ? yes : 0u, mask);
    }
    return true;
}

template <Compare C, class T, class R>
bool bindOne(Instr& instr)
{
    if (instr.op == Op::Setp)
        return set(instr, setpHandler<C, T, R>, setpHandler<C, T, R>);
    return set(instr, setHandler<C, T, R>, setHandler<C, T, R>);
}

template <class T, class R>
bool bindCompareOf(Instr& instr)
{
    switch (static_cast<Compare>(instr.sub)) {
    case Compare::Eq:
        return bindOne<Compare::Eq, T, R>(instr);
    case Compare::Ne:
        return bindOne<Compare::Ne, T, R>(instr);
    case Compare::Lt:
        return bindOne<Compare::Lt, T, R>(instr);
    case Compare::Le:
        return bindOne<Compare::Le, T, R>(instr);
    case Compare::Gt:
        return bindOne<Compare::Gt, T, R>(instr);
    case Compare::Ge:
        return bindOne<Compare::Ge, T, R>(instr);
    default:
        break;
    }
    if (!isFloat(instr.type))
        return false;
    switch (static_cast<Compare>(instr.sub)) {
    case Compare::Equ:
        return bindOne<Compare::Equ, T, R>(instr);
    case Compare::Neu:
        return bindOne<Compare::Neu, T, R>(instr);
    case Compare::Ltu:
        return bindOne<Compare::Ltu, T, R>(instr);
    case Compare::Leu:
        return bindOne<Compare::Leu, T, R>(instr);
    case Compare::Gtu:
        return bindOne<Compare::Gtu, T, R>(instr);
    case Compare::Geu:
        return bindOne<Compare::Geu, T, R>(instr);
    case Compare::Num:
        return bindOne<Compare::Num, T, R>(instr);
    case Compare::Nan:
        return bindOne<Compare::Nan, T, R>(instr);
    default:
        return false;
    }
}

bool holds(Compare how, float x, float y)
{
    const bool less = x<y, greater = x> y, unordered = x != x || y != y;
    switch (how) {
    case Compare::Eq:
        return x == y;
    case Compare::Ne:
        return less || greater;
    case Compare::Lt:
        return less;
    case Compare::Le:
        return less || x == y;
    case Compare::Gt:
        return greater;
    case Compare::Ge:
        return greater || x == y;
    case Compare::Equ:
        return x == y || unordered;
    case Compare::Neu:
        return x != y;
    case Compare::Ltu:
        return less || unordered;
    case Compare::Leu:
        return !greater;
    case Compare::Gtu:
        return greater || unordered;
    case Compare::Geu:
        return !less;
    case Compare::Num:
        return !unordered;
    case Compare::Nan:
        return unordered;
    }
    return false;
}

/// Lanes in which the comparison holds for one half of their values.
std::uint32_t comparePart(const Warp& warp, const Instr& instr, unsigned part)
{
    const std::uint32_t* a = at<std::uint32_t>(warp, instr.a);
    const std::uint32_t* b = at<std::uint32_t>(warp, instr.b);
    const auto wide = [&](std::uint32_t lane) {
        const auto bits = static_cast<std::uint16_t>(lane >> (16 * part));
        return instr.type == Type::F16x2 ? halfToFloat(bits) : bfloatToFloat(bits);
    };
    std::uint32_t result = 0;
    for (unsigned l = 0; l < warpLanes; ++l)
        result |= static_cast<std::uint32_t>(holds(static_cast<Compare>(instr.sub), wide(a[l]), wide(b[l]))) << l;
    return combined(result, warp, instr);
}

/// setp.f16x2 p|q: the low halves give p, the high ones q.
bool setpPairHandler(Warp& warp, const Instr& instr)
{
    const std::uint32_t low = comparePart(warp, instr, 0), high = comparePart(warp, instr, 1);
    writePredicate(warp, instr.d, low);
    writePredicate(warp, instr.d2, high);
    return true;
}

/// set.f16x2 and set.u32.f16x2: each half on its own.
bool setPairHandler(Warp& warp, const Instr& instr)
{
    const std::uint32_t low = comparePart(warp, instr, 0), high = comparePart(warp, instr, 1);
    const std::uint32_t yes = trueOf(instr.type2) & 0xFFFF;
    auto* d = at<std::uint32_t>(warp, instr.d);
    for (unsigned l = 0; l < warpLanes; ++l)
        put<true>(d, l, ((high >> l & 1 ? yes : 0u) << 16) | (low >> l & 1 ? yes : 0u), warp.mask.data());
    return true;
}

bool bindComparison(Instr& instr)
{
    const bool pairs = instr.type == Type::F16x2 || instr.type == Type::BF16x2;
    const bool toPair = instr.type2 == Type::F16x2 || instr.type2 == Type::BF16x2;
    const std::uint32_t result = bytesOf(instr.type2);
    if (instr.op == Op::Set && (pairs ? result != 4 : (result != 4 && result != 2) || toPair))
        return false;
    switch (instr.type) {
    case Type::F32:
        return instr.ftz ? bindCompareOf<float, FlushReader>(instr) : bindCompareOf<float, Reader<float, float>>(instr);
    case Type::F64:
        return bindCompareOf<double, Reader<double, double>>(instr);
    case Type::F16:
        return bindCompareOf<std::uint16_t, HalfReader>(instr);
    case Type::BF16:
        return bindCompareOf<std::uint16_t, BfloatReader>(instr);
    case Type::F16x2:
    case Type::BF16x2:
        return instr.op == Op::Setp ? set(instr, setpPairHandler, setpPairHandler)
                                    : set(instr, setPairHandler, setPairHandler);
    default:
        return onInteger(instr.type, [&](auto tag) {
            using T = typename decltype(tag)::type;
            return bindCompareOf<T, Reader<T, T>>(instr);
        });
    }
}

template <class T, bool Masked>
bool selpHandler(Warp& warp, const Instr& instr)
{
    T* d = at<T>(warp, instr.d);
    const T* a = at<T>(warp, instr.a);
    const T* b = at<T>(warp, instr.b);
    alignas(64) std::uint32_t choice[warpLanes];
    expandMask(lanesOf(warp, instr.c, instr.negatedC), choice);
    const std::uint32_t* mask = warp.mask.data();
    ESPALIER_LANES
    {
        const T x = a[l], y = b[l];
        put<Masked>(d, l, choice[l] ? x : y, mask);
    }
    return true;
}

/// slct d, a, b, c: a where c >= 0.
template <class T, class C>
bool slctHandler(Warp& warp, const Instr& instr)
{
    T* d = at<T>(warp, instr.d);
    const T* a = at<T>(warp, instr.a);
    const T* b = at<T>(warp, instr.b);
    const C* c = at<C>(warp, instr.c);
    for (unsigned l = 0; l < warpLanes; ++l)
        put<true>(d, l, c[l] >= 0 ? a[l] : b[l], warp.mask.data());
    return true;
}

} // namespace

bool bindCompare(Instr& instr)
{
    switch (instr.op) {
    case Op::Setp:
    case Op::Set:
        return bindComparison(instr);
    case Op::Selp:
        return onWidth(instr.type, [&](auto tag) {
            using T = typename decltype(tag)::type;
            return set(instr, selpHandler<T, false>, selpHandler<T, true>);
        });
    case Op::Slct:
        return onWidth(instr.type, [&](auto tag) {
            using T = typename decltype(tag)::type;
            if (instr.type2 == Type::F32)
                return set(instr, slctHandler<T, float>, slctHandler<T, float>);
            return instr.type2 == Type::S32 && set(instr, slctHandler<T, std::int32_t>, slctHandler<T, std::int32_t>);
        });
    default:
        return false;
    }
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
