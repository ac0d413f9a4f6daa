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

/// set d: all ones, or 1.0 where the destination is f32.
template <Compare C, class T, class R>
bool setHandler(Warp& warp, const Instr& instr)
{
    const std::uint32_t result = combined(compareLanes<C, T, R>(warp, instr), warp, instr);
    const std::uint32_t yes = instr.type2 == Type::F32 ? 0x3F800000u : ~0u;
    std::uint32_t* d = at<std::uint32_t>(warp, instr.d);
    ESPALIER_LANES put<true>(d, l, (result >> l) & 1 ? yes : 0u, warp.mask.data());
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

/// setp.f16x2 p|q: the low halves give p, the high ones q.
bool pairHandler(Warp& warp, const Instr& instr)
{
    const std::uint32_t* a = at<std::uint32_t>(warp, instr.a);
    const std::uint32_t* b = at<std::uint32_t>(warp, instr.b);
    const auto wide = [&](std::uint32_t lane, unsigned part) {
        const auto bits = static_cast<std::uint16_t>(lane >> (16 * part));
        return instr.type == Type::F16x2 ? halfToFloat(bits) : bfloatToFloat(bits);
    };
    for (unsigned part = 0; part < 2; ++part) {
        std::uint32_t result = 0;
        for (unsigned l = 0; l < warpLanes; ++l) {
            const float x = wide(a[l], part), y = wide(b[l], part);
            bool yes = false;
            switch (static_cast<Compare>(instr.sub)) {
            case Compare::Eq:
                yes = Test<Compare::Eq>::run(x, y);
                break;
            case Compare::Ne:
                yes = Test<Compare::Ne>::run(x, y);
                break;
            case Compare::Lt:
                yes = Test<Compare::Lt>::run(x, y);
                break;
            case Compare::Le:
                yes = Test<Compare::Le>::run(x, y);
                break;
            case Compare::Gt:
                yes = Test<Compare::Gt>::run(x, y);
                break;
            case Compare::Ge:
                yes = Test<Compare::Ge>::run(x, y);
                break;
            case Compare::Equ:
                yes = Test<Compare::Equ>::run(x, y);
                break;
            case Compare::Neu:
                yes = Test<Compare::Neu>::run(x, y);
                break;
            case Compare::Ltu:
                yes = Test<Compare::Ltu>::run(x, y);
                break;
            case Compare::Leu:
                yes = Test<Compare::Leu>::run(x, y);
                break;
            case Compare::Gtu:
                yes = Test<Compare::Gtu>::run(x, y);
                break;
            case Compare::Geu:
                yes = Test<Compare::Geu>::run(x, y);
                break;
            case Compare::Num:
                yes = Test<Compare::Num>::run(x, y);
                break;
            case Compare::Nan:
                yes = Test<Compare::Nan>::run(x, y);
                break;
            }
            result |= static_cast<std::uint32_t>(yes) << l;
        }
        writePredicate(warp, part == 0 ? instr.d : instr.d2, combined(result, warp, instr));
    }
    return true;
}

bool bindComparison(Instr& instr)
{
    if (instr.op == Op::Set && (bytesOf(instr.type2) != 4 || instr.type2 == Type::F16x2))
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
        return instr.op == Op::Setp && set(instr, pairHandler, pairHandler);
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
