// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/instruction.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace espalier::sim {

/// Conversions of f16, bf16 and tf32. All functions are branch-light and inline: they run once a lane.

inline float halfToFloat(std::uint16_t half)
{
    const std::uint32_t sign = (std::uint32_t{half} & 0x8000u) << 16;
    const std::uint32_t magnitude = half & 0x7FFFu;
    std::uint32_t bits = (magnitude << 13) + 0x38000000u;
    if (magnitude >= 0x7C00u)
        bits += 0x38000000u;
    const float subnormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
    bits = magnitude < 0x400u ? std::bit_cast<std::uint32_t>(subnormal) : bits;
    return std::bit_cast<float>(bits | sign);
}

inline std::uint16_t floatToHalf(float value) ///< to nearest even
{
    std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits & 0x80000000u;
    bits ^= sign;
    std::uint32_t half = 0;
    if (bits >= 0x47800000u) {
        half = bits > 0x7F800000u ? 0x7FFFu : 0x7C00u;
    } else if (bits < 0x38800000u) {
        half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3F000000u;
    } else {
        half = (bits + 0xC8000FFFu + ((bits >> 13) & 1u)) >> 13;
    }
    return static_cast<std::uint16_t>(half | (sign >> 16));
}

inline float bfloatToFloat(std::uint16_t value)
{
    return std::bit_cast<float>(std::uint32_t{value} << 16);
}

inline std::uint16_t floatToBfloat(float value) ///< to nearest even
{
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return 0x7FFF;
    return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/// A finite double rounded to a binary float of `mantissa` explicit bits with the exponent range given by `minExponent`
/// (of the smallest normal) and `maxExponent`. The result is exact in double; overflow gives infinity or, where the
/// mode says so, the largest finite value.
inline double roundToFormat(double value, int mantissa, int minExponent, int maxExponent, Rounding mode)
{
    if (value == 0 || !std::isfinite(value))
        return value;
    int exponent = std::ilogb(value);
    exponent = exponent < minExponent ? minExponent : exponent;
    const double scaled = std::scalbn(std::fabs(value), mantissa - exponent); // below 2^(mantissa + 1): exact
    const bool negative = std::signbit(value);
    const double floor = std::floor(scaled);
    const double rest = scaled - floor;
    bool up = false;
    switch (mode) {
    case Rounding::Zero:
    case Rounding::ZeroInt:
        break;
    case Rounding::Down:
    case Rounding::DownInt:
        up = negative && rest > 0;
        break;
    case Rounding::Up:
    case Rounding::UpInt:
        up = !negative && rest > 0;
        break;
    case Rounding::Away:
        up = rest >= 0.5;
        break;
    default:
        up = rest > 0.5 || (rest == 0.5 && std::fmod(floor, 2.0) == 1.0);
        break;
    }
    double result = std::scalbn(floor + (up ? 1 : 0), exponent - mantissa);
    const double largest = std::scalbn(2.0 - std::scalbn(1.0, -mantissa), maxExponent);
    if (result > largest) {
        const bool toInfinity = mode == Rounding::Nearest || mode == Rounding::Away ||
                                (mode == Rounding::Up && !negative) || (mode == Rounding::Down && negative);
        result = toInfinity ? HUGE_VAL : largest;
    }
    return negative ? -result : result;
}

inline std::uint16_t doubleToHalf(double value, Rounding mode)
{
    return floatToHalf(static_cast<float>(roundToFormat(value, 10, -14, 15, mode)));
}

inline std::uint16_t doubleToBfloat(double value, Rounding mode)
{
    return floatToBfloat(static_cast<float>(roundToFormat(value, 7, -126, 127, mode)));
}

/// a * b + c rounded to double in such a way (to odd) that rounding once more to a format of at most 24 bits gives the
/// correctly rounded result. The product must be exact in double.
inline double fmaToOdd(double a, double b, double c)
{
    const double p = a * b;
    const double s = p + c;
    if (!std::isfinite(s))
        return s;
    const double t = s - p;
    const double error = (p - (s - t)) + (c - t);
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(s);
    if (error == 0 || (bits & 1))
        return s;
    return std::bit_cast<double>((error > 0) == (s > 0) ? bits + 1 : bits - 1);
}

} // namespace espalier::sim
