// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/handlers.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/// A loop over the 32 lanes whose iterations the compiler may take as independent: destinations are the same array as a
/// source or a different one, never shifted.
#define ESPALIER_LANES _Pragma("GCC ivdep") for (unsigned l = 0; l < warpLanes; ++l)

namespace espalier::sim::ESPALIER_SIM_ISA {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

template <class T>
inline T* at(const Warp& warp, std::uint32_t offset)
{
    return static_cast<T*>(__builtin_assume_aligned(warp.frame + offset, 64));
}

inline std::uint32_t& predicate(const Warp& warp, std::uint32_t offset)
{
    return *reinterpret_cast<std::uint32_t*>(warp.frame + offset);
}

/// A predicate as a source operand: lanes where it holds.
inline std::uint32_t lanesOf(const Warp& warp, std::uint32_t offset, bool negated)
{
    const std::uint32_t bits = predicate(warp, offset);
    return negated ? ~bits : bits;
}

inline void writePredicate(Warp& warp, std::uint32_t offset, std::uint32_t bits)
{
    if (offset == 0)
        return;
    std::uint32_t& d = predicate(warp, offset);
    d = (bits & warp.exec) | (d & ~warp.exec);
}

/// Bits of a lane array of zeros and all-ones.
inline std::uint32_t packMask(const std::uint32_t* lanes)
{
#if defined(__AVX2__)
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) {
        const __m256 v = _mm256_loadu_ps(reinterpret_cast<const float*>(lanes) + 8 * i);
        bits |= static_cast<std::uint32_t>(_mm256_movemask_ps(v)) << (8 * i);
    }
    return bits;
#elif defined(__x86_64__)
    std::uint32_t bits = 0;
    for (int i = 0; i < 8; ++i) {
        const __m128 v = _mm_loadu_ps(reinterpret_cast<const float*>(lanes) + 4 * i);
        bits |= static_cast<std::uint32_t>(_mm_movemask_ps(v)) << (4 * i);
    }
    return bits;
#else
    std::uint32_t bits = 0;
    for (unsigned l = 0; l < warpLanes; ++l)
        bits |= (lanes[l] & 1u) << l;
    return bits;
#endif
}

inline void expandMask(std::uint32_t bits, std::uint32_t* lanes)
{
    ESPALIER_LANES lanes[l] = 0u - ((bits >> l) & 1u);
}

/// Stores a computed lane, or keeps what the lane holds when it is not active.
template <bool Masked, class T>
inline void put(T* d, unsigned l, T value, const std::uint32_t* mask)
{
    if constexpr (Masked)
        d[l] = mask[l] ? value : d[l];
    else
        d[l] = value;
}

template <class F, class D, class A, bool Masked>
bool unaryHandler(Warp& warp, const Instr& instr)
{
    D* d = at<D>(warp, instr.d);
    const A* a = at<A>(warp, instr.a);
    const std::uint32_t* mask = warp.mask.data();
    ESPALIER_LANES put<Masked>(d, l, static_cast<D>(F::run(a[l])), mask);
    return true;
}

template <class F, class D, class A, class B, bool Masked>
bool binaryHandler(Warp& warp, const Instr& instr)
{
    D* d = at<D>(warp, instr.d);
    const A* a = at<A>(warp, instr.a);
    const B* b = at<B>(warp, instr.b);
    const std::uint32_t* mask = warp.mask.data();
    ESPALIER_LANES put<Masked>(d, l, static_cast<D>(F::run(a[l], b[l])), mask);
    return true;
}

template <class F, class D, class A, class B, class C, bool Masked>
bool ternaryHandler(Warp& warp, const Instr& instr)
{
    D* d = at<D>(warp, instr.d);
    const A* a = at<A>(warp, instr.a);
    const B* b = at<B>(warp, instr.b);
    const C* c = at<C>(warp, instr.c);
    const std::uint32_t* mask = warp.mask.data();
    ESPALIER_LANES put<Masked>(d, l, static_cast<D>(F::run(a[l], b[l], c[l])), mask);
    return true;
}

inline bool set(Instr& instr, Handler full, Handler masked)
{
    instr.full = full;
    instr.masked = masked;
    return true;
}

template <class F, class D, class A>
bool setUnary(Instr& instr)
{
    return set(instr, unaryHandler<F, D, A, false>, unaryHandler<F, D, A, true>);
}

template <class F, class D, class A, class B>
bool setBinary(Instr& instr)
{
    return set(instr, binaryHandler<F, D, A, B, false>, binaryHandler<F, D, A, B, true>);
}

template <class F, class D, class A, class B, class C>
bool setTernary(Instr& instr)
{
    return set(instr, ternaryHandler<F, D, A, B, C, false>, ternaryHandler<F, D, A, B, C, true>);
}

template <class T>
struct Tag {
    using type = T;
};

/// Calls `made` with the tag of an integer type of 16, 32 or 64 bits.
template <class F>
bool onInteger(Type type, F made)
{
    switch (type) {
    case Type::U16:
    case Type::B16:
        return made(Tag<std::uint16_t>{});
    case Type::S16:
        return made(Tag<std::int16_t>{});
    case Type::U32:
    case Type::B32:
        return made(Tag<std::uint32_t>{});
    case Type::S32:
        return made(Tag<std::int32_t>{});
    case Type::U64:
    case Type::B64:
        return made(Tag<std::uint64_t>{});
    case Type::S64:
        return made(Tag<std::int64_t>{});
    default:
        return false;
    }
}

/// The same without regard to sign.
template <class F>
bool onWidth(Type type, F made)
{
    switch (bytesOf(type)) {
    case 2:
        return made(Tag<std::uint16_t>{});
    case 4:
        return made(Tag<std::uint32_t>{});
    case 8:
        return made(Tag<std::uint64_t>{});
    default:
        return false;
    }
}

inline float flushed(float x)
{
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits & 0x7F800000u) == 0 ? bits & 0x80000000u : bits);
}

} // namespace espalier::sim::ESPALIER_SIM_ISA
