// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The judge's own device operations. Each is one function per element, written once in ops_impl.h and compiled twice:
/// by nvcc into the PTX that CUDA devices run, by the host compiler into a loop for the simulated device, with the same
/// bits (no fused multiply-add, correctly rounded division and square root, no library functions).
/// All addresses are in the judge's own address space of the device.
namespace espalier::ops {

enum class Op : std::uint32_t {
    Fill,    ///< FillArgs: draws inputs
    Verify,  ///< FillArgs + mismatch counter: regenerates inputs and counts elements whose bits differ
    Poison,  ///< PoisonArgs: fills outputs or workspace so that an unwritten element cannot pass
    Compare, ///< CompareArgs: candidate output against fp64 reference and scale
    Band,    ///< BandArgs, by byte: counts changed bytes of a canary band (slack between a buffer's end and its guard)
    Hash,    ///< HashArgs: order-independent 64-bit fingerprint
};

enum class DType : std::uint32_t { F64, F32, TF32, F16, BF16, FP8E4M3, FP8E5M2, I8, I32, I64, Bool };

/// Bytes of one element.
constexpr std::uint32_t sizeOf(DType type)
{
    switch (type) {
    case DType::F64:
    case DType::I64:
        return 8;
    case DType::F32:
    case DType::TF32:
    case DType::I32:
        return 4;
    case DType::F16:
    case DType::BF16:
        return 2;
    default:
        return 1;
    }
}

enum class Distribution : std::uint32_t {
    Normal,       ///< a = mean, b = standard deviation
    Uniform,      ///< in [a, b)
    Constant,     ///< a
    HeavyTail,    ///< a times a standard normal, times 2^(a uniform whole number in [-b, b])
    Integers,     ///< whole numbers in [a, b]
    Sparse,       ///< 0 for a share b of the elements, else a times a standard normal
    Ties,         ///< one of b values (drawn from the seed, standard deviation a)
    ConstantRows, ///< one value a row: a = mean, b = standard deviation
    Outlier,      ///< a times a standard normal, but one element of each row, at a secret place, is a * b or -a * b
    Subnormal,    ///< below the type's smallest normal number in magnitude
    HalfNormal,   ///< all of one sign: a times the magnitude of a standard normal
    Alternating,  ///< the same with + at even and - at odd indices
    Sorted,       ///< ascends along each row (descends where b < 0): a = mean, |b| = standard deviation
    Mixed, ///< a times a standard normal in regions of secret lengths that follow different regimes (MixedRegime)
};

/// What a region of a Mixed tensor holds. One regime can hide what a kernel does to another (one huge element leaves a
/// softmax nothing else), so a tensor has either nominal and one other, in turn, or all five in secret order.
enum class MixedRegime : std::uint32_t {
    Nominal,
    Small,     ///< times 1e-4
    Amplified, ///< times 8
    Large,     ///< times 1e3
    Outliers,  ///< one element in 16 is times 2 to 256
};
constexpr std::uint32_t mixedRegimes = 5;

struct FillArgs {
    std::uint64_t address;
    std::uint64_t seed;  ///< secret; the stream of an element depends on (seed, element index) only
    std::uint64_t first; ///< index of the first element
    DType dtype;
    Distribution distribution;
    double a, b;              ///< Mixed: b is the MixedRegime beside Nominal, which comes first; negative: all five
    std::uint64_t mismatches; ///< Verify: address of one u64, added to; Fill: unused
    /// ConstantRows, Outlier, Sorted: elements of a row. Mixed: mean elements of a region at most (the seed may make
    /// them up to four times shorter). Unused by the others.
    std::uint64_t row = 0;
};

enum class PoisonKind : std::uint32_t {
    Noise,  ///< finite random values of plausible range
    NaN,    ///< quiet NaNs with random payload
    Invert, ///< flips every bit of what is there
};

/// Element i of the address is element i of the whole output: Compare names "still poison" by its `first` + i.
struct PoisonArgs {
    std::uint64_t address;
    std::uint64_t seed;
    DType dtype;
    PoisonKind kind;
};

/// Result block of a comparison; zeroed by the caller, merged by atomics.
struct CompareResult {
    std::uint64_t compared;       ///< elements looked at: must equal what was asked
    std::uint64_t failed;         ///< elements over the per-element bound, or of another class (NaN, Inf sign)
    std::uint64_t nonFinite;      ///< candidate elements that are NaN or Inf where the reference is finite
    std::uint64_t stillPoison;    ///< failed elements whose bits equal the poison that was written
    std::uint64_t firstFailed;    ///< smallest failing index (start with ~0)
    std::uint64_t worstIndexBits; ///< packed (ratio rank, index): internal; indices below 2^40
    double sumSquaredError;       ///< for the norm criterion
    double sumSquaredReference;
    double sumSquaredScale; ///< of the operands' magnitudes; the reference's where there are none
    double worstRatio;      ///< |out − ref| / (elementFactor·u·scale) of the worst element (the ranking of
                            ///< elements is exact to one part in 4096); 1e300 for one of another class
    double worstOut, worstRef, worstScale;
    std::uint64_t worstIndex;
};

struct CompareArgs {
    std::uint64_t out;       ///< candidate elements of dtype
    std::uint64_t reference; ///< double
    std::uint64_t scale;     ///< double: sum of operand magnitudes
    std::uint64_t result;    ///< CompareResult
    std::uint64_t first;     ///< index of element 0 within the whole output, for messages
    DType dtype;
    double unitRoundoff;      ///< u of the contract
    double elementFactor;     ///< 16 unless the task widened it
    double absolute;          ///< FLT_MIN of the dtype: below it only the absolute error counts
    std::uint64_t poisonSeed; ///< what was written before the call, to name "still poison"
    PoisonKind poisonKind;
};

struct BandArgs {
    std::uint64_t address;
    std::uint64_t seed;
    std::uint64_t mismatches; ///< address of one u64, added to
    std::uint32_t write;      ///< 1: writes the band, 0: checks it
};

struct HashArgs {
    std::uint64_t address;
    std::uint64_t result; ///< address of one u64, added to
    std::uint64_t stride; ///< every stride-th 4-byte word (1: all); `count` is the number of words looked at
};

} // namespace espalier::ops
