// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/ops/numbers.h"

/// The judge's operations, one element at a time: the single text that nvcc and the host compiler both compile. An
/// address here is a pointer of whoever runs it. Only ops_kernels.cu, ops_cpu.cpp and tests include this.
namespace espalier::ops {

/// Streams of one seed that must never meet.
enum Stream : std::uint64_t {
    inputStream = 0,
    poisonStream = 1,
    bandStream = 2,
    levelStream = 3,  ///< values that many elements share: ties, constant rows
    placeStream = 4,  ///< where something happens: outliers, ends of regions
    regimeStream = 5, ///< what a region holds
};

ESPALIER_BOTH std::uint64_t loadBits(std::uint64_t address, std::uint64_t index, DType type)
{
    switch (sizeOf(type)) {
    case 8:
        return reinterpret_cast<const std::uint64_t*>(address)[index];
    case 4:
        return reinterpret_cast<const std::uint32_t*>(address)[index];
    case 2:
        return reinterpret_cast<const std::uint16_t*>(address)[index];
    default:
        return reinterpret_cast<const std::uint8_t*>(address)[index];
    }
}

ESPALIER_BOTH void storeBits(std::uint64_t address, std::uint64_t index, DType type, std::uint64_t bits)
{
    switch (sizeOf(type)) {
    case 8:
        reinterpret_cast<std::uint64_t*>(address)[index] = bits;
        return;
    case 4:
        reinterpret_cast<std::uint32_t*>(address)[index] = static_cast<std::uint32_t>(bits);
        return;
    case 2:
        reinterpret_cast<std::uint16_t*>(address)[index] = static_cast<std::uint16_t>(bits);
        return;
    default:
        reinterpret_cast<std::uint8_t*>(address)[index] = static_cast<std::uint8_t>(bits);
        return;
    }
}

/// In (0, 1), with 52 random bits: never 0 or 1, so that the quantile is finite.
ESPALIER_BOTH double unitInterval(const RandomWords& random)
{
    const std::uint64_t bits = (static_cast<std::uint64_t>(random.w[1]) << 32 | random.w[0]) >> 12;
    return (static_cast<double>(bits) + 0.5) * 2.220446049250313e-16;
}

/// Uniform in [0, range], from 64 random bits (a bias below 2^-32 for ranges below 2^32).
ESPALIER_BOTH std::uint64_t wholeBelow(const RandomWords& random, std::uint64_t range)
{
    const std::uint64_t bits = static_cast<std::uint64_t>(random.w[3]) << 32 | random.w[2];
    if (range < 0xFFFFFFFFull) {
        const std::uint64_t low = (bits & 0xFFFFFFFFull) * (range + 1) >> 32;
        return ((bits >> 32) * (range + 1) + low) >> 32;
    }
    return range == ~0ull ? bits : bits % (range + 1);
}

/// In [0, 1), from bits that unitInterval does not use.
ESPALIER_BOTH double secondUniform(const RandomWords& random)
{
    return static_cast<double>(random.w[2]) * 2.3283064365386963e-10;
}

/// The regime of the region that element `index` lies in. The tensor is cut into cells of equal length, each cell once
/// more at a secret place; a region reaches from one secret place to the next. The first is half a cell long at least,
/// so that what a prefix holds says nothing about the rest.
ESPALIER_BOTH MixedRegime mixedRegimeAt(const FillArgs& args, std::uint64_t index)
{
    const std::uint64_t longest = args.row > 2 ? args.row : 2;
    const std::uint64_t shorter = longest >> (mix64(args.seed) % 3);
    const std::uint64_t cell = shorter > 2 ? shorter : 2;
    const std::uint64_t number = index / cell;
    const std::uint64_t least = number == 0 ? cell / 2 : 0;
    const std::uint64_t cut = least + wholeBelow(philox(number, placeStream, args.seed), cell - least - 1);
    const std::uint64_t region = number + (index % cell < cut ? 0 : 1);
    if (args.b >= 0) {
        return region % 2 == 0 ? MixedRegime::Nominal : static_cast<MixedRegime>(static_cast<std::uint32_t>(args.b));
    }
    // Within a group of five regions an affine permutation of the regimes, a new one for every group.
    const RandomWords order = philox(region / mixedRegimes, regimeStream, args.seed);
    const std::uint32_t step = 1 + order.w[1] % (mixedRegimes - 1);
    const std::uint32_t place = static_cast<std::uint32_t>(region % mixedRegimes);
    return static_cast<MixedRegime>((order.w[0] % mixedRegimes + step * place) % mixedRegimes);
}

ESPALIER_BOTH double mixedFactor(const FillArgs& args, std::uint64_t index, const RandomWords& random)
{
    switch (mixedRegimeAt(args, index)) {
    case MixedRegime::Small:
        return 1e-4;
    case MixedRegime::Amplified:
        return 8;
    case MixedRegime::Large:
        return 1e3;
    case MixedRegime::Outliers:
        return random.w[2] % 16 == 0 ? powerOfTwo(1 + static_cast<int>(random.w[3] % 8)) : 1;
    case MixedRegime::Nominal:
        break;
    }
    return 1;
}

/// The argument of the normal quantile behind element `index`: its own random number, one that it shares with others,
/// or its place in the row.
ESPALIER_BOTH double quantileArgument(const FillArgs& args, std::uint64_t index, const RandomWords& random, double p)
{
    const std::uint64_t row = args.row > 0 ? args.row : 1;
    switch (args.distribution) {
    case Distribution::Ties: {
        const std::uint64_t levels = args.b > 1 ? static_cast<std::uint64_t>(args.b) : 1;
        return unitInterval(philox(wholeBelow(random, levels - 1), levelStream, args.seed));
    }
    case Distribution::ConstantRows:
        return unitInterval(philox(index / row, levelStream, args.seed));
    case Distribution::Sorted: {
        const double place = (static_cast<double>(index % row) + p) / static_cast<double>(row);
        // p lies in (0, 1), but the sum may round to the end of the interval.
        return place < 1 ? place : 1 - 1.1102230246251565e-16;
    }
    default:
        return p;
    }
}

/// The value of an element whose standard normal is z: all distributions but Constant, Integers, Uniform, Subnormal.
ESPALIER_BOTH double fromNormal(const FillArgs& args, std::uint64_t index, const RandomWords& random, double z)
{
    switch (args.distribution) {
    case Distribution::Normal:
    case Distribution::ConstantRows:
    case Distribution::Sorted:
        return args.a + args.b * z;
    case Distribution::HeavyTail: {
        const std::int64_t octaves = static_cast<std::int64_t>(args.b);
        const std::int64_t exponent =
            octaves > 0
                ? static_cast<std::int64_t>(wholeBelow(random, 2 * static_cast<std::uint64_t>(octaves))) - octaves
                : 0;
        return args.a * z * powerOfTwo(static_cast<int>(exponent));
    }
    case Distribution::Sparse:
        return secondUniform(random) < args.b ? 0.0 : args.a * z;
    case Distribution::Outlier: {
        const std::uint64_t row = args.row > 0 ? args.row : 1;
        const RandomWords place = philox(index / row, placeStream, args.seed);
        if (index % row == wholeBelow(place, row - 1)) {
            return place.w[0] & 1 ? -args.a * args.b : args.a * args.b;
        }
        return args.a * z;
    }
    case Distribution::HalfNormal:
        return args.a * magnitude(z);
    case Distribution::Alternating:
        return (index & 1 ? -args.a : args.a) * magnitude(z);
    case Distribution::Mixed:
        return args.a * z * mixedFactor(args, index, random);
    default: // Ties
        return args.a * z;
    }
}

/// The bits of input element `index`.
ESPALIER_BOTH std::uint64_t drawInput(const FillArgs& args, std::uint64_t index)
{
    if (args.distribution == Distribution::Constant) {
        return encode(args.a, args.dtype);
    }
    const RandomWords random = philox(index, inputStream, args.seed);
    if (args.distribution == Distribution::Integers) {
        const std::int64_t low = static_cast<std::int64_t>(args.a);
        const std::int64_t high = static_cast<std::int64_t>(args.b);
        const std::uint64_t span = high > low ? static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) : 0;
        const std::uint64_t value = static_cast<std::uint64_t>(low) + wholeBelow(random, span);
        return args.dtype == DType::I64 ? value
                                        : encode(static_cast<double>(static_cast<std::int64_t>(value)), args.dtype);
    }
    const double p = unitInterval(random);
    if (args.distribution == Distribution::Uniform) {
        const double value = args.a + (args.b - args.a) * p;
        const std::uint64_t bits = encode(value, args.dtype);
        // Rounding to a short type may reach b, which lies outside [a, b).
        return decode(bits, args.dtype) < args.b ? bits : encode(args.a, args.dtype);
    }
    if (args.distribution == Distribution::Subnormal) {
        return encode((2 * p - 1) * smallestNormalOf(args.dtype), args.dtype);
    }
    const double z = normalQuantile(quantileArgument(args, index, random, p));
    return encode(fromNormal(args, index, random, z), args.dtype);
}

ESPALIER_BOTH void fillElement(const FillArgs& args, std::uint64_t i)
{
    storeBits(args.address, i, args.dtype, drawInput(args, args.first + i));
}

ESPALIER_BOTH bool inputDiffers(const FillArgs& args, std::uint64_t i)
{
    return loadBits(args.address, i, args.dtype) != drawInput(args, args.first + i);
}

/// The bits that Poison writes at `index` (Noise and NaN; Invert depends on what was there).
ESPALIER_BOTH std::uint64_t drawPoison(std::uint64_t seed, PoisonKind kind, DType type, std::uint64_t index)
{
    const RandomWords random = philox(index, poisonStream, seed);
    const std::uint64_t bits = static_cast<std::uint64_t>(random.w[3]) << 32 | random.w[2];
    const bool whole = type == DType::I8 || type == DType::I32 || type == DType::I64 || type == DType::Bool;
    if (whole) {
        return sizeOf(type) == 8 ? bits : bits & ((1ull << (8 * sizeOf(type))) - 1);
    }
    if (kind == PoisonKind::Noise) {
        return encode(8.0 * unitInterval(random) - 4.0, type);
    }
    switch (type) {
    case DType::F64:
        return bits | 0x7FF8000000000000ull;
    case DType::F32:
        return (bits & 0xFFFFFFFFull) | 0x7FC00000ull;
    case DType::TF32:
        return (bits & 0xFFFFE000ull) | 0x7FC00000ull;
    case DType::F16:
        return (bits & 0xFFFFull) | 0x7E00ull;
    case DType::BF16:
        return (bits & 0xFFFFull) | 0x7FC0ull;
    case DType::FP8E5M2:
        return (bits & 0xFFull) | 0x7Eull;
    default:
        return (bits & 0x80ull) | 0x7Full;
    }
}

ESPALIER_BOTH void poisonElement(const PoisonArgs& args, std::uint64_t i)
{
    if (args.kind == PoisonKind::Invert) {
        storeBits(args.address, i, args.dtype, ~loadBits(args.address, i, args.dtype));
        return;
    }
    storeBits(args.address, i, args.dtype, drawPoison(args.seed, args.kind, args.dtype, i));
}

/// What one thread gathers before it merges into a CompareResult.
struct CompareTally {
    std::uint64_t compared = 0;
    std::uint64_t failed = 0;
    std::uint64_t nonFinite = 0;
    std::uint64_t stillPoison = 0;
    std::uint64_t firstFailed = ~0ull;
    std::uint64_t worst = 0; ///< packed, see packWorst
    double squaredError = 0;
    double squaredReference = 0;
    double squaredScale = 0;
};

constexpr int worstIndexWidth = 40;  ///< bits of the index within the packed word
constexpr double otherClass = 1e300; ///< the ratio of an element of another class than its reference

/// Larger for a larger ratio (to one part in 4096); among equals larger for the smaller index.
ESPALIER_BOTH std::uint64_t packWorst(double ratio, std::uint64_t index)
{
    constexpr std::uint64_t mask = (1ull << worstIndexWidth) - 1;
    return bitsOf(ratio) >> worstIndexWidth << worstIndexWidth | (~index & mask);
}

ESPALIER_BOTH std::uint64_t worstIndexOf(std::uint64_t packed)
{
    constexpr std::uint64_t mask = (1ull << worstIndexWidth) - 1;
    return ~packed & mask;
}

/// |out − ref| over what is allowed; `otherClass` where one is NaN or infinite and the other is not.
ESPALIER_BOTH double errorRatio(const CompareArgs& args, double out, double reference, double scale)
{
    if (isNaN(reference)) {
        return isNaN(out) ? 0 : otherClass;
    }
    const double largest = largestFinite(args.dtype);
    const bool overflows = magnitude(reference) > largest;
    if (isNaN(out)) {
        // e4m3 has no infinity: NaN is one of the two ways to say that a value was too large.
        return overflows && args.dtype == DType::FP8E4M3 ? 0 : otherClass;
    }
    if (isInfinite(out)) {
        return overflows && (out > 0) == (reference > 0) ? 0 : otherClass;
    }
    if (isInfinite(reference)) {
        return args.dtype == DType::FP8E4M3 && magnitude(out) == largest && (out > 0) == (reference > 0) ? 0
                                                                                                         : otherClass;
    }
    const double operands = scale >= 0 && !isInfinite(scale) ? scale : magnitude(reference);
    double bound = args.elementFactor * args.unitRoundoff * operands;
    if (magnitude(reference) < args.absolute && bound < args.absolute) {
        bound = args.absolute;
    }
    const double error = magnitude(out - reference);
    if (error == 0) {
        return 0;
    }
    const double ratio = bound > 0 ? error / bound : otherClass;
    return ratio < otherClass ? ratio : otherClass;
}

ESPALIER_BOTH void compareElement(const CompareArgs& args, std::uint64_t i, CompareTally& tally)
{
    const std::uint64_t bits = loadBits(args.out, i, args.dtype);
    const double out = decode(bits, args.dtype);
    const double reference = reinterpret_cast<const double*>(args.reference)[i];
    const double scale = reinterpret_cast<const double*>(args.scale)[i];
    const std::uint64_t index = args.first + i;
    const double ratio = errorRatio(args, out, reference, scale);
    const bool finite = !isNaN(out) && !isInfinite(out);
    const bool finiteReference = !isNaN(reference) && !isInfinite(reference);
    ++tally.compared;
    if (finite && finiteReference) {
        const double error = out - reference;
        tally.squaredError += error * error;
        tally.squaredReference += reference * reference;
        tally.squaredScale += scale >= 0 && !isInfinite(scale) ? scale * scale : reference * reference;
    }
    if (ratio > 0) {
        const std::uint64_t packed = packWorst(ratio, index);
        tally.worst = packed > tally.worst ? packed : tally.worst;
    }
    if (ratio <= 1) {
        return;
    }
    ++tally.failed;
    tally.nonFinite += !finite && finiteReference;
    tally.firstFailed = index < tally.firstFailed ? index : tally.firstFailed;
    tally.stillPoison += args.poisonKind != PoisonKind::Invert &&
                         bits == drawPoison(args.poisonSeed, args.poisonKind, args.dtype, index);
}

/// After all tallies are merged: writes the worst element's numbers if it lies in this call's range.
ESPALIER_BOTH void compareFinish(const CompareArgs& args, std::uint64_t count)
{
    CompareResult& result = *reinterpret_cast<CompareResult*>(args.result);
    const std::uint64_t index = worstIndexOf(result.worstIndexBits);
    if (result.worstIndexBits == 0 || index < args.first || index - args.first >= count) {
        return;
    }
    const std::uint64_t i = index - args.first;
    result.worstIndex = index;
    result.worstOut = decode(loadBits(args.out, i, args.dtype), args.dtype);
    result.worstRef = reinterpret_cast<const double*>(args.reference)[i];
    result.worstScale = reinterpret_cast<const double*>(args.scale)[i];
    result.worstRatio = errorRatio(args, result.worstOut, result.worstRef, result.worstScale);
}

ESPALIER_BOTH std::uint8_t bandByte(const BandArgs& args, std::uint64_t i)
{
    return static_cast<std::uint8_t>(mix64(args.seed ^ (i / 8) * 0xD1B54A32D192ED03ull) >> (8 * (i % 8)));
}

ESPALIER_BOTH bool bandElement(const BandArgs& args, std::uint64_t i)
{
    std::uint8_t& byte = reinterpret_cast<std::uint8_t*>(args.address)[i];
    const std::uint8_t expected = bandByte(args, i);
    if (args.write) {
        byte = expected;
        return false;
    }
    return byte != expected;
}

/// What the i-th sampled word adds to the fingerprint.
ESPALIER_BOTH std::uint64_t hashElement(const HashArgs& args, std::uint64_t i)
{
    const std::uint64_t index = i * args.stride;
    const std::uint64_t word = reinterpret_cast<const std::uint32_t*>(args.address)[index];
    return mix64(mix64(index) ^ word);
}

} // namespace espalier::ops
