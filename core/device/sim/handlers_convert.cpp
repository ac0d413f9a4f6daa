// SPDX-License-Identifier: Apache-2.0
// cvt: every pair of integer and float types, all rounding modes, saturation.
#include "core/device/sim/handlers_common.h"
#include "core/device/sim/small_float.h"

#include <cmath>
#include <limits>

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

/// The lanes of an operand as an array of its own type, whatever the width of the register behind it.
template <class T>
const T* readLanes(const Warp& warp, std::uint32_t slot, std::uint32_t width, T* copy)
{
    if (width == sizeof(T))
        return at<T>(warp, slot);
    switch (width) {
    case 2:
        ESPALIER_LANES copy[l] = static_cast<T>(at<U16>(warp, slot)[l]);
        break;
    case 4:
        ESPALIER_LANES copy[l] = static_cast<T>(at<U32>(warp, slot)[l]);
        break;
    default:
        ESPALIER_LANES copy[l] = static_cast<T>(at<U64>(warp, slot)[l]);
        break;
    }
    return copy;
}

/// Writes lanes into a register that may be wider: integers are extended by their sign.
template <class T>
void writeLanes(Warp& warp, std::uint32_t slot, std::uint32_t width, const T* lanes)
{
    const U32* mask = warp.mask.data();
    if (width == sizeof(T)) {
        T* d = at<T>(warp, slot);
        ESPALIER_LANES put<true>(d, l, lanes[l], mask);
        return;
    }
    if constexpr (std::is_integral_v<T>) {
        using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, U64>;
        switch (width) {
        case 2:
            ESPALIER_LANES put<true>(at<U16>(warp, slot), l, static_cast<U16>(Wide{lanes[l]}), mask);
            break;
        case 4:
            ESPALIER_LANES put<true>(at<U32>(warp, slot), l, static_cast<U32>(Wide{lanes[l]}), mask);
            break;
        default:
            ESPALIER_LANES put<true>(at<U64>(warp, slot), l, static_cast<U64>(Wide{lanes[l]}), mask);
            break;
        }
    }
}

// Half types as themselves, so that templates can tell them from u16.
struct Half {
    U16 bits;
    explicit operator U16() const { return bits; }
    Half() = default;
    explicit Half(U64 b) : bits(static_cast<U16>(b)) {}
};
struct Bfloat {
    U16 bits;
    Bfloat() = default;
    explicit Bfloat(U64 b) : bits(static_cast<U16>(b)) {}
};

template <class T>
constexpr bool isFloating = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;

inline float widened(Half h)
{
    return halfToFloat(h.bits);
}
inline float widened(Bfloat h)
{
    return bfloatToFloat(h.bits);
}
inline float widened(float x)
{
    return x;
}
inline double widened(double x)
{
    return x;
}

template <class T>
T integral(T x, Rounding mode)
{
    switch (mode) {
    case Rounding::NearestInt:
        return std::nearbyint(x);
    case Rounding::ZeroInt:
        return std::trunc(x);
    case Rounding::DownInt:
        return std::floor(x);
    case Rounding::UpInt:
        return std::ceil(x);
    default:
        return x;
    }
}

/// A float with an integral value as an integer of D, out-of-range values clamped, NaN to 0.
template <class D, class F>
D clampedInteger(F x)
{
    constexpr F low = static_cast<F>(std::numeric_limits<D>::min());
    constexpr int bits = std::numeric_limits<D>::digits;
    constexpr F beyond = static_cast<F>(U64{1} << (bits - 1)) * F{2}; // max + 1, exact
    if (x >= beyond)
        return std::numeric_limits<D>::max();
    if (x > low)
        return static_cast<D>(x);
    return x <= low ? std::numeric_limits<D>::min() : D{0};
}

template <class D, class S>
D clampedBetweenIntegers(S x)
{
    if (std::cmp_greater(x, std::numeric_limits<D>::max()))
        return std::numeric_limits<D>::max();
    if (std::cmp_less(x, std::numeric_limits<D>::min()))
        return std::numeric_limits<D>::min();
    return static_cast<D>(x);
}

bool directed(Rounding mode)
{
    return mode == Rounding::Zero || mode == Rounding::Down || mode == Rounding::Up;
}

template <class D>
D narrowed(double x, Rounding mode)
{
    if constexpr (std::is_same_v<D, Half>)
        return Half(std::isfinite(x) ? doubleToHalf(x, mode) : floatToHalf(static_cast<float>(x)));
    else if constexpr (std::is_same_v<D, Bfloat>)
        return Bfloat(std::isfinite(x) ? doubleToBfloat(x, mode) : floatToBfloat(static_cast<float>(x)));
    else if constexpr (std::is_same_v<D, float>)
        return directed(mode) ? static_cast<float>(roundToFormat(x, 23, -126, 127, mode)) : static_cast<float>(x);
    else
        return x;
}

template <class D, class S>
D floatToFloat(S s, const Instr& instr)
{
    auto x = widened(s);
    if constexpr (std::is_same_v<S, float>)
        x = instr.ftz ? flushed(x) : x;
    if (instr.rounding >= Rounding::NearestInt && instr.rounding <= Rounding::UpInt)
        x = integral(x, instr.rounding);
    D r;
    if constexpr (std::is_same_v<D, Half> && std::is_same_v<decltype(x), float>)
        r = instr.rounding == Rounding::Nearest ? Half(floatToHalf(x)) : narrowed<D>(x, instr.rounding);
    else if constexpr (std::is_same_v<D, Bfloat> && std::is_same_v<decltype(x), float>)
        r = instr.rounding == Rounding::Nearest ? Bfloat(floatToBfloat(x)) : narrowed<D>(x, instr.rounding);
    else
        r = narrowed<D>(x, instr.rounding);
    if constexpr (std::is_same_v<D, float>)
        r = instr.ftz ? flushed(r) : r;
    if constexpr (std::is_same_v<D, Half> || std::is_same_v<D, Bfloat>) {
        constexpr U16 infinity = std::is_same_v<D, Half> ? 0x7C00 : 0x7F80;
        if (instr.finite && (r.bits & 0x7FFF) == infinity)
            --r.bits;
    }
    if (instr.sat || instr.relu) {
        const double wide = widened(r);
        if (instr.sat)
            r = narrowed<D>(wide > 0 ? (wide < 1 ? wide : 1) : 0, Rounding::Nearest);
        else if (wide <= 0)
            r = narrowed<D>(0.0, Rounding::Nearest);
    }
    return r;
}

template <class D, class S>
D integerToFloat(S s, const Instr& instr)
{
    D r;
    if constexpr (std::is_same_v<D, double>) {
        r = static_cast<double>(s);
        if (sizeof(S) == 8 && directed(instr.rounding)) {
            // r is the nearest double: step back when it lies on the wrong side.
            const Int128 back = static_cast<Int128>(r);
            const Int128 exact = s;
            const bool above = back > exact, below = back < exact;
            if (above && (instr.rounding == Rounding::Down || (instr.rounding == Rounding::Zero && exact > 0)))
                r = std::nextafter(r, -HUGE_VAL);
            if (below && (instr.rounding == Rounding::Up || (instr.rounding == Rounding::Zero && exact < 0)))
                r = std::nextafter(r, HUGE_VAL);
        }
    } else if constexpr (std::is_same_v<D, float>) {
        if (!directed(instr.rounding)) {
            r = static_cast<float>(s);
        } else {
            r = static_cast<float>(s);
            const Int128 back = static_cast<Int128>(r);
            const Int128 exact = s;
            if (back > exact && (instr.rounding == Rounding::Down || (instr.rounding == Rounding::Zero && exact > 0)))
                r = std::nextafterf(r, -HUGE_VALF);
            if (back < exact && (instr.rounding == Rounding::Up || (instr.rounding == Rounding::Zero && exact < 0)))
                r = std::nextafterf(r, HUGE_VALF);
        }
    } else {
        // Integers beyond 2^53 overflow f16 and, for bf16, lose nothing that its 8 bits could see but a tie.
        double x = static_cast<double>(s);
        if constexpr (sizeof(S) == 8)
            if (static_cast<Int128>(x) != static_cast<Int128>(s))
                x = std::nextafter(x, static_cast<Int128>(x) > static_cast<Int128>(s) ? -HUGE_VAL : HUGE_VAL);
        r = narrowed<D>(x, instr.rounding);
    }
    if (instr.sat) {
        const double wide = widened(r);
        r = narrowed<D>(wide > 0 ? (wide < 1 ? wide : 1) : 0, Rounding::Nearest);
    }
    return r;
}

template <class D, class S>
D floatToInteger(S s, const Instr& instr)
{
    auto x = widened(s);
    if constexpr (std::is_same_v<S, float>)
        x = instr.ftz ? flushed(x) : x;
    return clampedInteger<D>(integral(x, instr.rounding));
}

/// The general conversion.
template <class D, class S>
bool convertHandler(Warp& warp, const Instr& instr)
{
    alignas(64) S copy[warpLanes];
    alignas(64) D made[warpLanes];
    const S* s = readLanes(warp, instr.a, instr.widthA, copy);
    for (unsigned l = 0; l < warpLanes; ++l) {
        if constexpr (isFloating<D> && isFloating<S>)
            made[l] = floatToFloat<D>(s[l], instr);
        else if constexpr (isFloating<D>)
            made[l] = integerToFloat<D>(s[l], instr);
        else if constexpr (isFloating<S>)
            made[l] = floatToInteger<D>(s[l], instr);
        else
            made[l] = instr.sat ? clampedBetweenIntegers<D>(s[l]) : static_cast<D>(s[l]);
    }
    writeLanes(warp, instr.d, instr.widthD, made);
    return true;
}

struct Cast {
    template <class A>
    static A run(A a)
    {
        return a;
    }
};
struct TruncToS32 {
    static std::int32_t run(float x) { return clampedInteger<std::int32_t>(__builtin_truncf(x)); }
};
struct Narrow16 {
    static U16 run(float x) { return floatToHalf(x); }
};
struct Widen16 {
    static float run(U16 x) { return halfToFloat(x); }
};
struct Saturate {
    static float run(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
};
struct NearestWhole {
    static float run(float x) { return __builtin_rintf(x); }
};
struct FloorWhole {
    static float run(float x) { return __builtin_floorf(x); }
};

/// Conversions that fill hot loops, free of run-time choices so that the compiler vectorises them.
bool bindFast(Instr& instr)
{
    const Type d = instr.type, s = instr.type2;
    if (instr.ftz || instr.relu || bytesOf(d) != instr.widthD || bytesOf(s) != instr.widthA)
        return false;
    if (!isFloat(d) && !isFloat(s) && !instr.sat)
        return onInteger(d, [&](auto dTag) {
            return onInteger(s, [&](auto sTag) {
                return setUnary<Cast, typename decltype(dTag)::type, typename decltype(sTag)::type>(instr);
            });
        });
    if (d == Type::F32 && s == Type::F32 && instr.sat && instr.rounding == Rounding::Nearest)
        return setUnary<Saturate, float, float>(instr);
    if (instr.sat)
        return false;
    if (d == Type::F32 && s == Type::S32 && instr.rounding == Rounding::Nearest)
        return setUnary<Cast, float, std::int32_t>(instr);
    if (d == Type::F32 && s == Type::U32 && instr.rounding == Rounding::Nearest)
        return setUnary<Cast, float, U32>(instr);
    if (d == Type::F64 && s == Type::F32)
        return setUnary<Cast, double, float>(instr);
    if (d == Type::F32 && s == Type::F64 && instr.rounding == Rounding::Nearest)
        return setUnary<Cast, float, double>(instr);
    if (d == Type::S32 && s == Type::F32 && instr.rounding == Rounding::ZeroInt)
        return setUnary<TruncToS32, std::int32_t, float>(instr);
    if (d == Type::F16 && s == Type::F32 && instr.rounding == Rounding::Nearest)
        return setUnary<Narrow16, U16, float>(instr);
    if (d == Type::F32 && s == Type::F16)
        return setUnary<Widen16, float, U16>(instr);
    if (d == Type::F32 && s == Type::F32 && instr.rounding == Rounding::NearestInt)
        return setUnary<NearestWhole, float, float>(instr);
    if (d == Type::F32 && s == Type::F32 && instr.rounding == Rounding::DownInt)
        return setUnary<FloorWhole, float, float>(instr);
    return false;
}

template <class F>
bool onAny(Type type, F made)
{
    switch (type) {
    case Type::U8:
    case Type::B8:
        return made(Tag<std::uint8_t>{});
    case Type::S8:
        return made(Tag<std::int8_t>{});
    case Type::F16:
        return made(Tag<Half>{});
    case Type::BF16:
        return made(Tag<Bfloat>{});
    case Type::F32:
        return made(Tag<float>{});
    case Type::F64:
        return made(Tag<double>{});
    default:
        return onInteger(type, made);
    }
}

struct E4M3 {
    static U32 narrow(float x) { return floatToE4M3(x); }
    static float wide(U32 bits) { return e4m3ToFloat(static_cast<std::uint8_t>(bits)); }
};
struct E5M2 {
    static U32 narrow(float x) { return floatToE5M2(x); }
    static float wide(U32 bits) { return e5m2ToFloat(static_cast<std::uint8_t>(bits)); }
};

template <class T>
constexpr bool isEightBit = std::is_same_v<T, E4M3> || std::is_same_v<T, E5M2>;

/// One element of a pair.
template <class D>
U32 partOf(float x, const Instr& instr)
{
    if constexpr (isEightBit<D>)
        return D::narrow(instr.relu && x <= 0 ? 0.0f : x);
    else
        return floatToFloat<D>(x, instr).bits;
}

/// cvt.rn.f16x2.f32 d, a, b: a goes into the upper part.
template <class D>
bool pairHandler(Warp& warp, const Instr& instr)
{
    using Lane = std::conditional_t<isEightBit<D>, U16, U32>;
    constexpr unsigned bits = sizeof(Lane) * 4;
    Lane* d = at<Lane>(warp, instr.d);
    const float* a = at<float>(warp, instr.a);
    const float* b = at<float>(warp, instr.b);
    for (unsigned l = 0; l < warpLanes; ++l)
        put<true>(d, l, static_cast<Lane>(partOf<D>(a[l], instr) << bits | partOf<D>(b[l], instr)), warp.mask.data());
    return true;
}

/// cvt.rn.satfinite.e4m3x2.f16x2
template <class D>
bool pairNarrowHandler(Warp& warp, const Instr& instr)
{
    U16* d = at<U16>(warp, instr.d);
    const U32* a = at<U32>(warp, instr.a);
    for (unsigned l = 0; l < warpLanes; ++l) {
        const float low = halfToFloat(static_cast<U16>(a[l])), high = halfToFloat(static_cast<U16>(a[l] >> 16));
        put<true>(d, l, static_cast<U16>(partOf<D>(high, instr) << 8 | partOf<D>(low, instr)), warp.mask.data());
    }
    return true;
}

/// cvt.rn.f16x2.e4m3x2: exact.
template <class S>
bool pairWidenHandler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    const U16* a = at<U16>(warp, instr.a);
    for (unsigned l = 0; l < warpLanes; ++l)
        put<true>(d, l, partOf<Half>(S::wide(a[l] >> 8), instr) << 16 | partOf<Half>(S::wide(a[l] & 255), instr),
                  warp.mask.data());
    return true;
}

bool bindPairs(Instr& instr)
{
    Handler made = nullptr;
    const bool floats = instr.type2 == Type::F32, halves = instr.type2 == Type::F16x2;
    switch (instr.type) {
    case Type::F16x2:
        made = floats                        ? pairHandler<Half>
               : instr.type2 == Type::E4M3x2 ? pairWidenHandler<E4M3>
               : instr.type2 == Type::E5M2x2 ? pairWidenHandler<E5M2>
                                             : nullptr;
        break;
    case Type::BF16x2:
        made = floats ? pairHandler<Bfloat> : nullptr;
        break;
    case Type::E4M3x2:
        made = floats ? pairHandler<E4M3> : halves ? pairNarrowHandler<E4M3> : nullptr;
        break;
    case Type::E5M2x2:
        made = floats ? pairHandler<E5M2> : halves ? pairNarrowHandler<E5M2> : nullptr;
        break;
    default:
        break;
    }
    return made && set(instr, made, made);
}

/// cvt.rna.tf32.f32 and cvt.rn / .rz: 10 mantissa bits in an f32 pattern.
bool tf32Handler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    const float* a = at<float>(warp, instr.a);
    for (unsigned l = 0; l < warpLanes; ++l) {
        double x = std::isfinite(a[l]) ? roundToFormat(a[l], 10, -126, 127, instr.rounding) : a[l];
        if (instr.relu && x <= 0)
            x = 0;
        if (instr.finite && std::isinf(x))
            x = std::copysign(0x1.FFCp127, x);
        put<true>(d, l, std::bit_cast<U32>(static_cast<float>(x)), warp.mask.data());
    }
    return true;
}

/// cvt.pack.sat.{u16,s16,u8,s8,...}.s32: d holds a above b (16 bits), or a and b above the low half of c (8 bits).
bool packHandler(Warp& warp, const Instr& instr)
{
    U32* d = at<U32>(warp, instr.d);
    const std::int32_t* a = at<std::int32_t>(warp, instr.a);
    const std::int32_t* b = at<std::int32_t>(warp, instr.b);
    const U32* c = instr.c ? at<U32>(warp, instr.c) : nullptr;
    const auto part = [&](std::int32_t x) -> U32 {
        switch (instr.type) {
        case Type::U16:
            return clampedBetweenIntegers<U16>(x);
        case Type::S16:
            return static_cast<U16>(clampedBetweenIntegers<std::int16_t>(x));
        case Type::U8:
            return clampedBetweenIntegers<std::uint8_t>(x);
        default:
            return static_cast<std::uint8_t>(clampedBetweenIntegers<std::int8_t>(x));
        }
    };
    const unsigned bits = bytesOf(instr.type) * 8;
    for (unsigned l = 0; l < warpLanes; ++l) {
        const U32 low = (part(a[l]) << bits) | part(b[l]);
        put<true>(d, l, bits == 16 ? low : (c ? c[l] << 16 : 0) | low, warp.mask.data());
    }
    return true;
}

} // namespace

bool bindConvert(Instr& instr)
{
    if (instr.op == Op::CvtPack)
        return set(instr, packHandler, packHandler);
    if (instr.op != Op::Cvt)
        return false;
    if (isPair(instr.type) || isPair(instr.type2))
        return bindPairs(instr);
    if (instr.type == Type::TF32 && instr.type2 == Type::F32)
        return set(instr, tf32Handler, tf32Handler);
    return (!instr.finite && bindFast(instr)) || onAny(instr.type, [&](auto d) {
               return onAny(instr.type2, [&](auto s) {
                   const Handler made = convertHandler<typename decltype(d)::type, typename decltype(s)::type>;
                   return set(instr, made, made);
               });
           });
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
