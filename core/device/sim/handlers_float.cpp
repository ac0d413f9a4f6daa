// SPDX-License-Identifier: Apache-2.0
// f32 and f64 arithmetic. Where PTX says .rn the result is the IEEE one; approximations keep within PTX's stated error.
#include "core/device/sim/handlers_common.h"

#include <cmath>
#include <limits>

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

enum class Mode { Plain, Ftz, Sat, FtzSat };

template <Mode M>
float in(float x)
{
    if constexpr (M == Mode::Ftz || M == Mode::FtzSat)
        return flushed(x);
    else
        return x;
}

template <Mode M>
float out(float x)
{
    if constexpr (M == Mode::Ftz || M == Mode::FtzSat)
        x = flushed(x);
    if constexpr (M == Mode::Sat || M == Mode::FtzSat)
        x = x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; // NaN becomes 0
    return x;
}

template <class F, Mode M>
struct Moded {
    static float run(float a) { return out<M>(F::run(in<M>(a))); }
    static float run(float a, float b) { return out<M>(F::run(in<M>(a), in<M>(b))); }
    static float run(float a, float b, float c) { return out<M>(F::run(in<M>(a), in<M>(b), in<M>(c))); }
};

struct Add {
    template <class T>
    static T run(T a, T b)
    {
        return a + b;
    }
};
struct Sub {
    template <class T>
    static T run(T a, T b)
    {
        return a - b;
    }
};
struct Mul {
    template <class T>
    static T run(T a, T b)
    {
        return a * b;
    }
};
struct Div {
    template <class T>
    static T run(T a, T b)
    {
        return a / b;
    }
};
struct Fma {
    static float run(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
    static double run(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct Rcp {
    template <class T>
    static T run(T a)
    {
        return T{1} / a;
    }
};
struct Sqrt {
    static float run(float a) { return __builtin_sqrtf(a); }
    static double run(double a) { return __builtin_sqrt(a); }
};
struct Rsqrt {
    static float run(float a) { return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a))); }
    static double run(double a) { return 1.0 / __builtin_sqrt(a); }
};

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
constexpr Bits<T> signBit = Bits<T>{1} << (sizeof(T) * 8 - 1);

struct Abs {
    template <class T>
    static T run(T a)
    {
        return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(a) & ~signBit<T>));
    }
};
struct Neg {
    template <class T>
    static T run(T a)
    {
        return std::bit_cast<T>(std::bit_cast<Bits<T>>(a) ^ signBit<T>);
    }
};
/// copysign d, a, b: the sign of a with the magnitude of b.
struct Copysign {
    template <class T>
    static T run(T a, T b)
    {
        return std::bit_cast<T>((std::bit_cast<Bits<T>>(a) & signBit<T>) | (std::bit_cast<Bits<T>>(b) & ~signBit<T>));
    }
};
/// -0 counts as less than +0; a NaN gives way to the other operand unless Propagate.
template <bool Greater, bool Propagate>
struct Extreme {
    template <class T>
    static T run(T a, T b)
    {
        const T zero =
            Greater ? std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(a) & std::bit_cast<Bits<T>>(b)))
                    : std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(a) | std::bit_cast<Bits<T>>(b)));
        const T ordered = (Greater ? a > b : a < b) ? a : b;
        const T r = a == b ? zero : ordered;
        if constexpr (Propagate)
            return a != a ? a : b != b ? b : r;
        else
            return b != b ? a : a != a ? b : r;
    }
};
template <class F>
struct XorSign {
    template <class T>
    static T run(T a, T b)
    {
        const Bits<T> sign = (std::bit_cast<Bits<T>>(a) ^ std::bit_cast<Bits<T>>(b)) & signBit<T>;
        return std::bit_cast<T>(std::bit_cast<Bits<T>>(F::run(Abs::run(a), Abs::run(b))) | sign);
    }
};

/// 2^x: 2^n by the exponent field in two steps (so that subnormal results round once), 2^f by a polynomial on
/// [-0.5, 0.5] whose relative error is below 2^-23.
struct Ex2 {
    static float run(float x)
    {
        float t = x > 129.0f ? 129.0f : x;
        t = t < -152.0f ? -152.0f : t;
        const float n = __builtin_rintf(t);
        const float f = t - n;
        float p = 1.5252733804059840280e-5f;
        p = __builtin_fmaf(p, f, 1.5403530393381609954e-4f);
        p = __builtin_fmaf(p, f, 1.3333558146428443423e-3f);
        p = __builtin_fmaf(p, f, 9.6181291076284771619e-3f);
        p = __builtin_fmaf(p, f, 5.5504108664821579953e-2f);
        p = __builtin_fmaf(p, f, 2.4022650695910071233e-1f);
        p = __builtin_fmaf(p, f, 6.9314718055994530942e-1f);
        p = __builtin_fmaf(p, f, 1.0f);
        const std::int32_t whole = n == n ? static_cast<std::int32_t>(n) : 0;
        const std::int32_t half = whole >> 1;
        const float s1 = std::bit_cast<float>((half + 127) << 23);
        const float s2 = std::bit_cast<float>((whole - half + 127) << 23);
        return p * s1 * s2;
    }
};
struct Lg2 {
    static float run(float x) { return std::log2(x); }
};
struct Sin {
    static float run(float x) { return std::sin(x); }
};
struct Cos {
    static float run(float x) { return std::cos(x); }
};
struct Tanh {
    static float run(float x) { return std::tanh(x); }
};

template <class F, template <class, Mode> class M = Moded>
bool unary32(Instr& instr)
{
    switch ((instr.ftz ? 1 : 0) + (instr.sat ? 2 : 0)) {
    case 0:
        return setUnary<M<F, Mode::Plain>, float, float>(instr);
    case 1:
        return setUnary<M<F, Mode::Ftz>, float, float>(instr);
    default:
        return false;
    }
}

template <class F>
bool binary32(Instr& instr)
{
    switch ((instr.ftz ? 1 : 0) + (instr.sat ? 2 : 0)) {
    case 0:
        return setBinary<Moded<F, Mode::Plain>, float, float, float>(instr);
    case 1:
        return setBinary<Moded<F, Mode::Ftz>, float, float, float>(instr);
    case 2:
        return setBinary<Moded<F, Mode::Sat>, float, float, float>(instr);
    default:
        return setBinary<Moded<F, Mode::FtzSat>, float, float, float>(instr);
    }
}

bool fma32(Instr& instr)
{
    switch ((instr.ftz ? 1 : 0) + (instr.sat ? 2 : 0)) {
    case 0:
        return setTernary<Moded<Fma, Mode::Plain>, float, float, float, float>(instr);
    case 1:
        return setTernary<Moded<Fma, Mode::Ftz>, float, float, float, float>(instr);
    case 2:
        return setTernary<Moded<Fma, Mode::Sat>, float, float, float, float>(instr);
    default:
        return setTernary<Moded<Fma, Mode::FtzSat>, float, float, float, float>(instr);
    }
}

template <class F>
bool unary(Instr& instr)
{
    return instr.type == Type::F32 ? unary32<F>(instr) : setUnary<F, double, double>(instr);
}

template <class F>
bool binary(Instr& instr)
{
    return instr.type == Type::F32 ? binary32<F>(instr) : setBinary<F, double, double, double>(instr);
}

template <class F>
bool extremeSigned(Instr& instr)
{
    return instr.xorsign ? binary<XorSign<F>>(instr) : binary<F>(instr);
}

template <bool Greater>
bool extreme(Instr& instr)
{
    return instr.nan ? extremeSigned<Extreme<Greater, true>>(instr) : extremeSigned<Extreme<Greater, false>>(instr);
}

bool approximate(Instr& instr)
{
    if (instr.op == Op::Rcp)
        return unary<Rcp>(instr);
    if (instr.op == Op::Rsqrt)
        return unary<Rsqrt>(instr);
    if (instr.op == Op::Sqrt)
        return unary<Sqrt>(instr);
    if (instr.type != Type::F32)
        return false;
    switch (instr.op) {
    case Op::Ex2:
        return unary32<Ex2>(instr);
    case Op::Lg2:
        return unary32<Lg2>(instr);
    case Op::Sin:
        return unary32<Sin>(instr);
    case Op::Cos:
        return unary32<Cos>(instr);
    case Op::Tanh:
        return unary32<Tanh>(instr);
    default:
        return false;
    }
}

enum class FloatClass : std::uint8_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

template <class T>
bool testpHandler(Warp& warp, const Instr& instr)
{
    const T* a = at<T>(warp, instr.a);
    std::uint32_t bits = 0;
    for (unsigned l = 0; l < warpLanes; ++l) {
        const int kind = std::fpclassify(a[l]);
        bool yes = false;
        switch (static_cast<FloatClass>(instr.sub)) {
        case FloatClass::Finite:
            yes = kind != FP_NAN && kind != FP_INFINITE;
            break;
        case FloatClass::Infinite:
            yes = kind == FP_INFINITE;
            break;
        case FloatClass::Number:
            yes = kind != FP_NAN;
            break;
        case FloatClass::NotANumber:
            yes = kind == FP_NAN;
            break;
        case FloatClass::Normal:
            yes = kind == FP_NORMAL;
            break;
        case FloatClass::Subnormal:
            yes = kind == FP_SUBNORMAL;
            break;
        }
        bits |= static_cast<std::uint32_t>(yes) << l;
    }
    writePredicate(warp, instr.d, bits);
    return true;
}

#if defined(__x86_64__)
/// Runs a handler in another rounding mode. Its operands and results are in memory, so the two barriers keep the
/// compiler from moving the arithmetic out.
template <Handler Inner, unsigned MxcsrMode>
bool inMode(Warp& warp, const Instr& instr)
{
    const unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~0x6000u) | MxcsrMode);
    asm volatile("" ::: "memory");
    const bool ok = Inner(warp, instr);
    asm volatile("" ::: "memory");
    _mm_setcsr(before);
    return ok;
}

template <Handler Full, Handler Masked>
bool setRounded(Instr& instr)
{
    switch (instr.rounding) {
    case Rounding::Zero:
        return set(instr, inMode<Full, 0x6000>, inMode<Masked, 0x6000>);
    case Rounding::Down:
        return set(instr, inMode<Full, 0x2000>, inMode<Masked, 0x2000>);
    case Rounding::Up:
        return set(instr, inMode<Full, 0x4000>, inMode<Masked, 0x4000>);
    default:
        return false;
    }
}

template <class F, class T>
bool roundedUnary(Instr& instr)
{
    return setRounded<unaryHandler<F, T, T, false>, unaryHandler<F, T, T, true>>(instr);
}
template <class F, class T>
bool roundedBinary(Instr& instr)
{
    return setRounded<binaryHandler<F, T, T, T, false>, binaryHandler<F, T, T, T, true>>(instr);
}
template <class F, class T>
bool roundedTernary(Instr& instr)
{
    return setRounded<ternaryHandler<F, T, T, T, T, false>, ternaryHandler<F, T, T, T, T, true>>(instr);
}

template <class T, class FtzAdd, class FtzSub, class FtzMul, class FtzDiv, class FtzFma, class FtzRcp, class FtzSqrt>
bool directedOf(Instr& instr)
{
    switch (instr.op) {
    case Op::Add:
        return roundedBinary<FtzAdd, T>(instr);
    case Op::Sub:
        return roundedBinary<FtzSub, T>(instr);
    case Op::Mul:
        return roundedBinary<FtzMul, T>(instr);
    case Op::Div:
        return roundedBinary<FtzDiv, T>(instr);
    case Op::Fma:
        return roundedTernary<FtzFma, T>(instr);
    case Op::Rcp:
        return roundedUnary<FtzRcp, T>(instr);
    case Op::Sqrt:
        return roundedUnary<FtzSqrt, T>(instr);
    default:
        return false;
    }
}

template <Mode M>
bool directed32(Instr& instr)
{
    return directedOf<float, Moded<Add, M>, Moded<Sub, M>, Moded<Mul, M>, Moded<Div, M>, Moded<Fma, M>, Moded<Rcp, M>,
                      Moded<Sqrt, M>>(instr);
}

bool directed(Instr& instr)
{
    if (instr.type == Type::F64)
        return directedOf<double, Add, Sub, Mul, Div, Fma, Rcp, Sqrt>(instr);
    switch ((instr.ftz ? 1 : 0) + (instr.sat ? 2 : 0)) {
    case 0:
        return directed32<Mode::Plain>(instr);
    case 1:
        return directed32<Mode::Ftz>(instr);
    case 2:
        return directed32<Mode::Sat>(instr);
    default:
        return directed32<Mode::FtzSat>(instr);
    }
}
#else
bool directed(Instr&)
{
    return false;
}
#endif

} // namespace

bool bindFloat(Instr& instr)
{
    if (instr.type != Type::F32 && instr.type != Type::F64)
        return false;
    if (instr.rounding != Rounding::Nearest && instr.op != Op::Cvt)
        return directed(instr);
    switch (instr.op) {
    case Op::Add:
        return binary<Add>(instr);
    case Op::Sub:
        return binary<Sub>(instr);
    case Op::Mul:
        return binary<Mul>(instr);
    case Op::Div:
    case Op::DivApprox:
        return binary<Div>(instr);
    case Op::Fma:
        return instr.type == Type::F32 ? fma32(instr) : setTernary<Fma, double, double, double, double>(instr);
    case Op::Abs:
        return unary<Abs>(instr);
    case Op::Neg:
        return unary<Neg>(instr);
    case Op::Min:
        return extreme<false>(instr);
    case Op::Max:
        return extreme<true>(instr);
    case Op::Copysign:
        return binary<Copysign>(instr);
    case Op::Testp:
        return instr.type == Type::F32 ? set(instr, testpHandler<float>, testpHandler<float>)
                                       : set(instr, testpHandler<double>, testpHandler<double>);
    default:
        return approximate(instr);
    }
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
