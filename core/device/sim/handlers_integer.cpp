// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, lane by lane.
#include "core/device/sim/handlers_common.h"

#include <limits>

namespace espalier::sim::ESPALIER_SIM_ISA {

namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// Arithmetic that wraps, whatever the sign; 16-bit values are widened by hand because C++ would promote them to int.
template <class T>
using Wrap = std::conditional_t<sizeof(T) < 4, std::uint32_t, Unsigned<T>>;

template <class T>
using Twice = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, Int128, Uint128>>>;

template <class T>
T high(T a, T b)
{
    return static_cast<T>((static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b)) >> (sizeof(T) * 8));
}

struct Add {
    template <class T>
    static T run(T a, T b)
    {
        return static_cast<T>(Wrap<T>(a) + Wrap<T>(b));
    }
};
struct AddSat {
    static std::int32_t run(std::int32_t a, std::int32_t b)
    {
        const std::int64_t r = std::int64_t{a} + b;
        return static_cast<std::int32_t>(r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r);
    }
};
struct Sub {
    template <class T>
    static T run(T a, T b)
    {
        return static_cast<T>(Wrap<T>(a) - Wrap<T>(b));
    }
};
struct SubSat {
    static std::int32_t run(std::int32_t a, std::int32_t b)
    {
        const std::int64_t r = std::int64_t{a} - b;
        return static_cast<std::int32_t>(r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r);
    }
};
struct Mul {
    template <class T>
    static T run(T a, T b)
    {
        return static_cast<T>(Wrap<T>(a) * Wrap<T>(b));
    }
};
struct MulHi {
    template <class T>
    static T run(T a, T b)
    {
        return high(a, b);
    }
};
struct MulWide {
    template <class T>
    static Twice<T> run(T a, T b)
    {
        return Twice<T>(a) * Twice<T>(b);
    }
};
struct Mad {
    template <class T>
    static T run(T a, T b, T c)
    {
        return static_cast<T>(Wrap<T>(a) * Wrap<T>(b) + Wrap<T>(c));
    }
};
struct MadHi {
    template <class T>
    static T run(T a, T b, T c)
    {
        return static_cast<T>(Wrap<T>(high(a, b)) + Wrap<T>(c));
    }
};
struct MadWide {
    template <class T>
    static Twice<T> run(T a, T b, Twice<T> c)
    {
        using W = Unsigned<Twice<T>>;
        return static_cast<Twice<T>>(static_cast<W>(Twice<T>(a) * Twice<T>(b)) + static_cast<W>(c));
    }
};
template <class T>
std::int64_t low24(T a)
{
    return std::is_signed_v<T> ? static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8 : a & 0xFFFFFF;
}
struct Mul24Lo {
    template <class T>
    static T run(T a, T b)
    {
        return static_cast<T>(low24(a) * low24(b));
    }
};
struct Mul24Hi {
    template <class T>
    static T run(T a, T b)
    {
        return static_cast<T>((low24(a) * low24(b)) >> 16);
    }
};
struct Mad24Lo {
    template <class T>
    static T run(T a, T b, T c)
    {
        return static_cast<T>(Wrap<T>(static_cast<T>(low24(a) * low24(b))) + Wrap<T>(c));
    }
};
/// Division by zero is not defined by PTX; all ones is what the hardware gives.
struct Div {
    template <class T>
    static T run(T a, T b)
    {
        if (b == 0)
            return static_cast<T>(~T{0});
        if constexpr (std::is_signed_v<T>)
            if (b == -1)
                return static_cast<T>(Wrap<T>(0) - Wrap<T>(a));
        return static_cast<T>(a / b);
    }
};
struct Rem {
    template <class T>
    static T run(T a, T b)
    {
        if (b == 0)
            return a;
        if constexpr (std::is_signed_v<T>)
            if (b == -1)
                return 0;
        return static_cast<T>(a % b);
    }
};
struct Abs {
    template <class T>
    static T run(T a)
    {
        return a < 0 ? static_cast<T>(Wrap<T>(0) - Wrap<T>(a)) : a;
    }
};
struct Neg {
    template <class T>
    static T run(T a)
    {
        return static_cast<T>(Wrap<T>(0) - Wrap<T>(a));
    }
};
struct Min {
    template <class T>
    static T run(T a, T b)
    {
        return a < b ? a : b;
    }
};
struct Max {
    template <class T>
    static T run(T a, T b)
    {
        return a > b ? a : b;
    }
};
struct MinRelu {
    template <class T>
    static T run(T a, T b)
    {
        return Max::run(Min::run(a, b), T{0});
    }
};
struct MaxRelu {
    template <class T>
    static T run(T a, T b)
    {
        return Max::run(Max::run(a, b), T{0});
    }
};
struct Sad {
    template <class T>
    static T run(T a, T b, T c)
    {
        const Wrap<T> distance = a > b ? Wrap<T>(a) - Wrap<T>(b) : Wrap<T>(b) - Wrap<T>(a);
        return static_cast<T>(Wrap<T>(c) + distance);
    }
};

template <class F>
bool binary(Instr& instr)
{
    return onInteger(instr.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return setBinary<F, T, T, T>(instr);
    });
}

template <class F>
bool ternary(Instr& instr)
{
    return onInteger(instr.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return setTernary<F, T, T, T, T>(instr);
    });
}

template <class F>
bool unary(Instr& instr)
{
    return onInteger(instr.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return setUnary<F, T, T>(instr);
    });
}

template <class Binary, class Ternary>
bool wide(Instr& instr)
{
    return onInteger(instr.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (sizeof(T) == 8)
            return false;
        else if constexpr (std::is_void_v<Ternary>)
            return setBinary<Binary, Twice<T>, T, T>(instr);
        else
            return setTernary<Ternary, Twice<T>, T, T, Twice<T>>(instr);
    });
}

/// add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi: the carry is a predicate, read from e and written to d2.
template <class T>
bool carryHandler(Warp& warp, const Instr& instr)
{
    using Big = Uint128;
    T* d = at<T>(warp, instr.d);
    const T* a = at<T>(warp, instr.a);
    const T* b = at<T>(warp, instr.b);
    const T* c = instr.c ? at<T>(warp, instr.c) : nullptr;
    const std::uint32_t in = instr.e ? predicate(warp, instr.e) : 0;
    std::uint32_t out = 0;
    for (unsigned l = 0; l < warpLanes; ++l) {
        if (!((warp.exec >> l) & 1))
            continue;
        const T carry = (in >> l) & 1;
        Big r = 0;
        if (instr.op == Op::AddCarry)
            r = Big{a[l]} + b[l] + carry;
        else if (instr.op == Op::SubCarry)
            r = Big{a[l]} - b[l] - carry;
        else {
            const Big product = Big{a[l]} * b[l];
            const T part = static_cast<T>(instr.op == Op::MadCarryHi ? product >> (8 * sizeof(T)) : product);
            r = Big{part} + c[l] + carry;
        }
        d[l] = static_cast<T>(r);
        out |= static_cast<std::uint32_t>((r >> (8 * sizeof(T))) & 1) << l;
    }
    writePredicate(warp, instr.d2, out);
    return true;
}

bool bindCarry(Instr& instr)
{
    if (bytesOf(instr.type) == 4)
        return set(instr, carryHandler<std::uint32_t>, carryHandler<std::uint32_t>);
    return bytesOf(instr.type) == 8 && set(instr, carryHandler<std::uint64_t>, carryHandler<std::uint64_t>);
}

bool word(Type type)
{
    return type == Type::U32 || type == Type::S32;
}

template <class F>
bool words(Instr& instr)
{
    if (instr.type == Type::S32)
        return setBinary<F, std::int32_t, std::int32_t, std::int32_t>(instr);
    return setBinary<F, std::uint32_t, std::uint32_t, std::uint32_t>(instr);
}

} // namespace

bool bindInteger(Instr& instr)
{
    if (isFloat(instr.type))
        return false;
    switch (instr.op) {
    case Op::Add:
        return instr.sat ? instr.type == Type::S32 && setBinary<AddSat, std::int32_t, std::int32_t, std::int32_t>(instr)
                         : binary<Add>(instr);
    case Op::Sub:
        return instr.sat ? instr.type == Type::S32 && setBinary<SubSat, std::int32_t, std::int32_t, std::int32_t>(instr)
                         : binary<Sub>(instr);
    case Op::Mul:
        return binary<Mul>(instr);
    case Op::MulHi:
        return binary<MulHi>(instr);
    case Op::MulWide:
        return wide<MulWide, void>(instr);
    case Op::Mad:
        return !instr.sat && ternary<Mad>(instr);
    case Op::MadHi:
        return !instr.sat && ternary<MadHi>(instr);
    case Op::MadWide:
        return wide<void, MadWide>(instr);
    case Op::Mul24:
        return word(instr.type) && (instr.hi ? words<Mul24Hi>(instr) : words<Mul24Lo>(instr));
    case Op::Mad24:
        if (!word(instr.type) || instr.hi || instr.sat)
            return false;
        if (instr.type == Type::S32)
            return setTernary<Mad24Lo, std::int32_t, std::int32_t, std::int32_t, std::int32_t>(instr);
        return setTernary<Mad24Lo, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>(instr);
    case Op::Div:
        return binary<Div>(instr);
    case Op::Rem:
        return binary<Rem>(instr);
    case Op::Abs:
        return unary<Abs>(instr);
    case Op::Neg:
        return unary<Neg>(instr);
    case Op::Min:
        return instr.relu ? binary<MinRelu>(instr) : binary<Min>(instr);
    case Op::Max:
        return instr.relu ? binary<MaxRelu>(instr) : binary<Max>(instr);
    case Op::Sad:
        return ternary<Sad>(instr);
    case Op::AddCarry:
    case Op::SubCarry:
    case Op::MadCarryLo:
    case Op::MadCarryHi:
        return bindCarry(instr);
    default:
        return false;
    }
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
