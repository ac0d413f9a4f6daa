// SPDX-License-Identifier: Apache-2.0
// f16, f16x2, bf16 and bf16x2 arithmetic: each step is computed wider and rounded once.
#include "core/device/sim/handlers_common.h"
#include "core/device/sim/small_float.h"

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

struct Half {
    std::uint16_t bits;
    static float wide(std::uint16_t b) { return halfToFloat(b); }
    static std::uint16_t narrow(float x) { return floatToHalf(x); }
    static std::uint16_t narrow(double x) { return doubleToHalf(x, Rounding::Nearest); }
    static constexpr std::uint16_t one = 0x3C00;
    static constexpr std::uint16_t infinity = 0x7C00;
};
struct Bfloat {
    std::uint16_t bits;
    static float wide(std::uint16_t b) { return bfloatToFloat(b); }
    static std::uint16_t narrow(float x) { return floatToBfloat(x); }
    static std::uint16_t narrow(double x) { return doubleToBfloat(x, Rounding::Nearest); }
    static constexpr std::uint16_t one = 0x3F80;
    static constexpr std::uint16_t infinity = 0x7F80;
};

using U16 = std::uint16_t;

template <class H>
bool isNan(U16 a)
{
    return (a & 0x7FFF) > H::infinity;
}

struct Add {
    template <class H>
    static U16 run(U16 a, U16 b)
    {
        return H::narrow(H::wide(a) + H::wide(b));
    }
};
struct Sub {
    template <class H>
    static U16 run(U16 a, U16 b)
    {
        return H::narrow(H::wide(a) - H::wide(b));
    }
};
struct Mul {
    template <class H>
    static U16 run(U16 a, U16 b)
    {
        return H::narrow(H::wide(a) * H::wide(b));
    }
};
struct Fma {
    template <class H>
    static U16 run(U16 a, U16 b, U16 c)
    {
        return H::narrow(fmaToOdd(double{H::wide(a)}, double{H::wide(b)}, double{H::wide(c)}));
    }
};
struct Abs {
    template <class H>
    static U16 run(U16 a)
    {
        return a & 0x7FFF;
    }
};
struct Neg {
    template <class H>
    static U16 run(U16 a)
    {
        return a ^ 0x8000;
    }
};
template <bool Greater>
struct Extreme {
    template <class H>
    static U16 run(U16 a, U16 b)
    {
        if (isNan<H>(a) || isNan<H>(b))
            return isNan<H>(a) ? (isNan<H>(b) ? U16{0x7FFF} : b) : a;
        const float x = H::wide(a), y = H::wide(b);
        if (x == y)
            return static_cast<U16>(Greater ? a & b : a | b);
        return (Greater ? x > y : x < y) ? a : b;
    }
};
template <class F>
struct Propagating {
    template <class H>
    static U16 run(U16 a, U16 b)
    {
        return isNan<H>(a) || isNan<H>(b) ? U16{0x7FFF} : F::template run<H>(a, b);
    }
};
/// min and max .xorsign.abs
template <class F>
struct XorSign {
    template <class H>
    static U16 run(U16 a, U16 b)
    {
        const U16 magnitude = F::template run<H>(a & 0x7FFF, b & 0x7FFF);
        return static_cast<U16>(magnitude | ((a ^ b) & 0x8000));
    }
};
struct Ex2 {
    template <class H>
    static U16 run(U16 a)
    {
        return H::narrow(std::exp2(H::wide(a)));
    }
};
struct Tanh {
    template <class H>
    static U16 run(U16 a)
    {
        return H::narrow(std::tanh(H::wide(a)));
    }
};

/// .ftz: subnormal values become zeros of their sign.
template <class H>
U16 flushedIf(bool ftz, U16 a)
{
    const bool subnormal = (a & H::infinity) == 0;
    return ftz && subnormal ? a & 0x8000 : a;
}

template <class H>
U16 limited(U16 r, const Instr& instr)
{
    r = flushedIf<H>(instr.ftz, r);
    if (instr.sat) // to [0, 1], NaN to 0
        return isNan<H>(r) || (r & 0x8000) ? U16{0} : r > H::one ? H::one : r;
    if (instr.relu)
        return isNan<H>(r) ? U16{0x7FFF} : (r & 0x8000) ? U16{0} : r;
    return r;
}

/// F over the one or two halves of each lane. Three operands always exist: unused ones repeat a.
template <class F, class H, class Lane, unsigned Operands>
bool handler(Warp& warp, const Instr& instr)
{
    Lane* d = at<Lane>(warp, instr.d);
    const Lane* a = at<Lane>(warp, instr.a);
    const Lane* b = Operands > 1 ? at<Lane>(warp, instr.b) : a;
    const Lane* c = Operands > 2 ? at<Lane>(warp, instr.c) : a;
    for (unsigned l = 0; l < warpLanes; ++l) {
        if (!((warp.exec >> l) & 1))
            continue;
        Lane r = 0;
        for (unsigned shift = 0; shift < sizeof(Lane) * 8; shift += 16) {
            const U16 x = flushedIf<H>(instr.ftz, static_cast<U16>(a[l] >> shift));
            const U16 y = flushedIf<H>(instr.ftz, static_cast<U16>(b[l] >> shift));
            const U16 z = flushedIf<H>(instr.ftz, static_cast<U16>(c[l] >> shift));
            U16 part = 0;
            if constexpr (Operands == 1)
                part = F::template run<H>(x);
            else if constexpr (Operands == 2)
                part = F::template run<H>(x, y);
            else
                part = F::template run<H>(x, y, z);
            r = static_cast<Lane>(r | (static_cast<Lane>(limited<H>(part, instr)) << shift));
        }
        d[l] = r;
    }
    return true;
}

template <class F, unsigned Operands>
bool bind(Instr& instr);

template <bool Greater>
bool bindExtreme(Instr& instr)
{
    using Plain = Extreme<Greater>;
    using Strict = Propagating<Plain>;
    if (instr.xorsign)
        return instr.nan ? bind<XorSign<Strict>, 2>(instr) : bind<XorSign<Plain>, 2>(instr);
    return instr.nan ? bind<Strict, 2>(instr) : bind<Plain, 2>(instr);
}

template <class F, unsigned Operands>
bool bind(Instr& instr)
{
    Handler made = nullptr;
    switch (instr.type) {
    case Type::F16:
        made = handler<F, Half, std::uint16_t, Operands>;
        break;
    case Type::F16x2:
        made = handler<F, Half, std::uint32_t, Operands>;
        break;
    case Type::BF16:
        made = handler<F, Bfloat, std::uint16_t, Operands>;
        break;
    case Type::BF16x2:
        made = handler<F, Bfloat, std::uint32_t, Operands>;
        break;
    default:
        return false;
    }
    return set(instr, made, made);
}

} // namespace

bool bindHalf(Instr& instr)
{
    if (instr.type < Type::F16 || instr.type > Type::BF16x2)
        return false;
    switch (instr.op) {
    case Op::Add:
        return bind<Add, 2>(instr);
    case Op::Sub:
        return bind<Sub, 2>(instr);
    case Op::Mul:
        return bind<Mul, 2>(instr);
    case Op::Fma:
        return bind<Fma, 3>(instr);
    case Op::Abs:
        return bind<Abs, 1>(instr);
    case Op::Neg:
        return bind<Neg, 1>(instr);
    case Op::Min:
        return bindExtreme<false>(instr);
    case Op::Max:
        return bindExtreme<true>(instr);
    case Op::Ex2:
        return bind<Ex2, 1>(instr);
    case Op::Tanh:
        return bind<Tanh, 1>(instr);
    default:
        return false;
    }
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
