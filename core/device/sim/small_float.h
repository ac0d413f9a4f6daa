// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/instruction.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

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

/// The eight-bit floats of two exponent widths: e4m3 has no infinity and one NaN, e5m2 is the upper half of an f16.
/// Conversions into them go to nearest even and stop at the largest finite value.
inline float e4m3ToFloat(std::uint8_t value)
{
    const int exponent = value >> 3 & 15, mantissa = value & 7;
    float magnitude =
        std::scalbn(static_cast<float>(exponent ? 8 + mantissa : mantissa), (exponent ? exponent : 1) - 10);
    if ((value & 0x7F) == 0x7F)
        magnitude = std::numeric_limits<float>::quiet_NaN();
    return value & 0x80 ? -magnitude : magnitude;
}

inline std::uint8_t floatToE4M3(float value)
{
    if (std::isnan(value))
        return 0x7F;
    const double rounded = std::fabs(roundToFormat(value, 3, -6, 8, Rounding::Nearest));
    const double magnitude = rounded > 448 ? 448 : rounded;
    const int exponent = magnitude < 0x1p-6 ? -6 : std::ilogb(magnitude);
    const int eighths = static_cast<int>(std::scalbn(magnitude, 3 - exponent)); // 8 and more: a normal value
    const int bits = eighths < 8 ? eighths : (exponent + 7) << 3 | (eighths - 8);
    return static_cast<std::uint8_t>(bits | (std::signbit(value) ? 0x80 : 0));
}

inline float e5m2ToFloat(std::uint8_t value)
{
    return halfToFloat(static_cast<std::uint16_t>(value << 8));
}

inline std::uint8_t floatToE5M2(float value)
{
    if (std::isnan(value))
        return 0x7F;
    const double rounded = roundToFormat(value, 2, -14, 15, Rounding::Nearest);
    const double kept = std::fabs(rounded) > 57344 ? std::copysign(57344.0, rounded) : rounded;
    return static_cast<std::uint8_t>(floatToHalf(static_cast<float>(kept)) >> 8);
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
