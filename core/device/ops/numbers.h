// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/ops/ops.h"

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define ESPALIER_BOTH __host__ __device__ inline
#else
#define ESPALIER_BOTH inline
#endif

/// Numbers for the judge's operations: random bits, the functions behind the distributions and the element types, from
/// additions, multiplications, divisions, square roots and integer operations only. Those are correctly rounded on the
/// host and on the device as long as nothing is contracted (-fmad=false, -ffp-contract=off), so both give the same
/// bits. Thread: any; pure functions.
namespace espalier::ops {

struct RandomWords {
    std::uint32_t w[4];
};

/// Philox4x32 with ten rounds (Salmon et al. 2011): 128 random bits for a counter and a key.
ESPALIER_BOTH RandomWords philox(std::uint64_t counter, std::uint64_t stream, std::uint64_t key)
{
    std::uint32_t c0 = static_cast<std::uint32_t>(counter), c1 = static_cast<std::uint32_t>(counter >> 32);
    std::uint32_t c2 = static_cast<std::uint32_t>(stream), c3 = static_cast<std::uint32_t>(stream >> 32);
    std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = 0xD2511F53ull * c0;
        const std::uint64_t product1 = 0xCD9E8D57ull * c2;
        const std::uint32_t n0 = static_cast<std::uint32_t>(product1 >> 32) ^ c1 ^ k0;
        const std::uint32_t n2 = static_cast<std::uint32_t>(product0 >> 32) ^ c3 ^ k1;
        c1 = static_cast<std::uint32_t>(product1);
        c3 = static_cast<std::uint32_t>(product0);
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
}

/// A cheap 64-bit mix (the finaliser of SplitMix64), for canaries and fingerprints.
ESPALIER_BOTH std::uint64_t mix64(std::uint64_t x)
{
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

ESPALIER_BOTH std::uint64_t bitsOf(double value)
{
    std::uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

ESPALIER_BOTH double doubleOf(std::uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

ESPALIER_BOTH bool isNaN(double value)
{
    return (bitsOf(value) << 1) > 0xFFE0000000000000ull;
}
ESPALIER_BOTH bool isInfinite(double value)
{
    return (bitsOf(value) << 1) == 0xFFE0000000000000ull;
}
ESPALIER_BOTH double magnitude(double value)
{
    return doubleOf(bitsOf(value) & 0x7FFFFFFFFFFFFFFFull);
}

ESPALIER_BOTH double squareRoot(double value)
{
#ifdef __CUDA_ARCH__
    return __dsqrt_rn(value);
#else
    return __builtin_sqrt(value);
#endif
}

/// 2^exponent for exponents of normal doubles.
ESPALIER_BOTH double powerOfTwo(int exponent)
{
    return doubleOf(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Natural logarithm of a normal positive double, to a few units in the last place.
ESPALIER_BOTH double naturalLogarithm(double value)
{
    const std::uint64_t bits = bitsOf(value);
    int exponent = static_cast<int>(bits >> 52) - 1023;
    double m = doubleOf((bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
    if (m > 1.4142135623730951) {
        m = m * 0.5;
        ++exponent;
    }
    const double f = (m - 1.0) / (m + 1.0);
    const double s = f * f;
    double series = 1.0 / 23;
    series = series * s + 1.0 / 21;
    series = series * s + 1.0 / 19;
    series = series * s + 1.0 / 17;
    series = series * s + 1.0 / 15;
    series = series * s + 1.0 / 13;
    series = series * s + 1.0 / 11;
    series = series * s + 1.0 / 9;
    series = series * s + 1.0 / 7;
    series = series * s + 1.0 / 5;
    series = series * s + 1.0 / 3;
    series = series * s + 1.0;
    return exponent * 0.6931471805599453 + 2.0 * f * series;
}

ESPALIER_BOTH double polynomial8(double r, double a7, double a6, double a5, double a4, double a3, double a2, double a1,
                                 double a0)
{
    return ((((((a7 * r + a6) * r + a5) * r + a4) * r + a3) * r + a2) * r + a1) * r + a0;
}

/// Quantile of the standard normal distribution for p in (0, 1): Wichura's algorithm AS241 (1988), PPND16.
ESPALIER_BOTH double normalQuantile(double p)
{
    const double q = p - 0.5;
    if (magnitude(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q *
               polynomial8(r, 2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
                           4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
                           1.3314166789178437745e+2, 3.3871328727963666080e+0) /
               polynomial8(r, 5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4,
                           2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2,
                           4.2313330701600911252e+1, 1.0);
    }
    double r = squareRoot(-naturalLogarithm(q < 0 ? p : 1.0 - p));
    double x;
    if (r <= 5.0) {
        r = r - 1.6;
        x = polynomial8(r, 7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                        1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0,
                        4.63033784615654529590e+0, 1.42343711074968357734e+0) /
            polynomial8(r, 1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
                        1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e+0,
                        2.05319162663775882187e+0, 1.0);
    } else {
        r = r - 5.0;
        x = polynomial8(r, 2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
                        2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e+0,
                        5.46378491116411436990e+0, 6.65790464350110377720e+0) /
            polynomial8(r, 2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
                        7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
                        5.99832206555887937690e-1, 1.0);
    }
    return q < 0 ? -x : x;
}

/// A floating type of at most 16 bits: 1 sign bit, then `exponentBits`, then `mantissaBits`.
struct SmallFloat {
    int exponentBits;
    int mantissaBits;
    std::uint32_t largest; ///< code of the largest finite magnitude
    bool infinite;         ///< has infinities (codes above `largest` start with it); else values saturate
};

ESPALIER_BOTH SmallFloat smallFloat(DType type)
{
    switch (type) {
    case DType::F16:
        return {5, 10, 0x7BFF, true};
    case DType::BF16:
        return {8, 7, 0x7F7F, true};
    case DType::FP8E5M2:
        return {5, 2, 0x7B, true};
    default:
        return {4, 3, 0x7E, false}; // e4m3: no infinity, 0x7F is the only NaN
    }
}

/// Rounds to nearest, ties to even; too large becomes infinity, or the largest value where there is none.
ESPALIER_BOTH std::uint32_t encodeSmall(double value, const SmallFloat& form)
{
    const std::uint64_t bits = bitsOf(value);
    const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 63) << (form.exponentBits + form.mantissaBits);
    if (isNaN(value)) {
        return sign | (form.infinite ? form.largest + 1 + (1u << (form.mantissaBits - 1)) : form.largest + 1);
    }
    const int bias = (1 << (form.exponentBits - 1)) - 1;
    const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
    std::uint32_t code = form.largest + 1;
    if (exponent < -bias - form.mantissaBits - 1) {
        code = 0;
    } else if (exponent <= bias + 1) {
        const int below = 1 - bias > exponent ? 1 - bias - exponent : 0; // denormal: shift further
        const int shift = 52 - form.mantissaBits + below;
        const std::uint64_t mantissa = (bits & 0x000FFFFFFFFFFFFFull) | 0x0010000000000000ull;
        const std::uint64_t kept = mantissa >> shift;
        const std::uint64_t rest = mantissa & ((1ull << shift) - 1);
        const std::uint64_t half = 1ull << (shift - 1);
        const std::uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
        code = static_cast<std::uint32_t>(rounded) +
               (below ? 0u : static_cast<std::uint32_t>(exponent + bias - 1) << form.mantissaBits);
    }
    if (code > form.largest) {
        code = form.infinite ? form.largest + 1 : form.largest;
    }
    return sign | code;
}

ESPALIER_BOTH double decodeSmall(std::uint32_t code, const SmallFloat& form)
{
    const std::uint32_t magnitudeMask = (1u << (form.exponentBits + form.mantissaBits)) - 1;
    const std::uint32_t absolute = code & magnitudeMask;
    const std::uint64_t sign = (code & ~magnitudeMask) ? 0x8000000000000000ull : 0;
    if (absolute > form.largest) {
        return doubleOf(
            sign | (form.infinite && absolute == form.largest + 1 ? 0x7FF0000000000000ull : 0x7FF8000000000000ull));
    }
    const int bias = (1 << (form.exponentBits - 1)) - 1;
    const int exponent = static_cast<int>(absolute >> form.mantissaBits);
    const std::uint32_t mantissa = absolute & ((1u << form.mantissaBits) - 1);
    const double whole = exponent ? (1u << form.mantissaBits) + mantissa : mantissa;
    const double value = whole * powerOfTwo((exponent ? exponent : 1) - bias - form.mantissaBits);
    return doubleOf(bitsOf(value) | sign);
}

/// The nearest whole number (ties to even), held within [low, high].
ESPALIER_BOTH std::int64_t nearestWhole(double value, double low, double high)
{
    if (!(value > low)) {
        return static_cast<std::int64_t>(low);
    }
    if (value >= high) {
        return high >= 9223372036854775807.0 ? 9223372036854775807ll : static_cast<std::int64_t>(high);
    }
    std::int64_t whole = static_cast<std::int64_t>(value);
    const double rest = magnitude(value - static_cast<double>(whole));
    if (rest > 0.5 || (rest == 0.5 && (whole & 1))) {
        whole += value < 0 ? -1 : 1;
    }
    return whole;
}

/// The bits of `value` as an element of `type`, in the low bytes.
ESPALIER_BOTH std::uint64_t encode(double value, DType type)
{
    switch (type) {
    case DType::F64:
        return bitsOf(value);
    case DType::F32:
    case DType::TF32: {
        const float rounded = static_cast<float>(value);
        std::uint32_t bits;
        memcpy(&bits, &rounded, sizeof(bits));
        if (type == DType::TF32 && !isNaN(value) && !isInfinite(value)) {
            bits += 0x0FFFu + ((bits >> 13) & 1); // nearest even on the low 13 bits
            bits &= 0xFFFFE000u;
        }
        return bits;
    }
    case DType::I8:
        return static_cast<std::uint8_t>(nearestWhole(value, -128, 127));
    case DType::I32:
        return static_cast<std::uint32_t>(nearestWhole(value, -2147483648.0, 2147483647.0));
    case DType::I64:
        return static_cast<std::uint64_t>(nearestWhole(value, -9223372036854775808.0, 9223372036854775807.0));
    case DType::Bool:
        return value > 0.5 ? 1 : 0;
    default:
        return encodeSmall(value, smallFloat(type));
    }
}

/// The value of an element's bits. A Bool that is neither 0 nor 1 is NaN: no correct program leaves one.
ESPALIER_BOTH double decode(std::uint64_t bits, DType type)
{
    switch (type) {
    case DType::F64:
        return doubleOf(bits);
    case DType::F32:
    case DType::TF32: {
        const std::uint32_t low = static_cast<std::uint32_t>(bits);
        float value;
        memcpy(&value, &low, sizeof(value));
        return static_cast<double>(value);
    }
    case DType::I8:
        return static_cast<double>(static_cast<std::int8_t>(bits));
    case DType::I32:
        return static_cast<double>(static_cast<std::int32_t>(bits));
    case DType::I64:
        return static_cast<double>(static_cast<std::int64_t>(bits));
    case DType::Bool:
        return bits > 1 ? doubleOf(0x7FF8000000000000ull) : static_cast<double>(bits);
    default:
        return decodeSmall(static_cast<std::uint32_t>(bits), smallFloat(type));
    }
}

ESPALIER_BOTH double largestFinite(DType type)
{
    switch (type) {
    case DType::F32:
    case DType::TF32:
        return 3.4028234663852886e+38;
    case DType::F16:
    case DType::BF16:
    case DType::FP8E4M3:
    case DType::FP8E5M2:
        return decodeSmall(smallFloat(type).largest, smallFloat(type));
    default:
        return 1.7976931348623157e+308;
    }
}

/// The smallest normal number of a floating type; 0 for whole numbers.
ESPALIER_BOTH double smallestNormalOf(DType type)
{
    switch (type) {
    case DType::F64:
        return 2.2250738585072014e-308;
    case DType::F32:
    case DType::TF32:
    case DType::BF16:
        return powerOfTwo(-126);
    case DType::F16:
    case DType::FP8E5M2:
        return powerOfTwo(-14);
    case DType::FP8E4M3:
        return powerOfTwo(-6);
    default:
        return 0;
    }
}

} // namespace espalier::ops
