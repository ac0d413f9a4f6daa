// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace espalier::statistics {

/// Timings of kernels that ran in several fresh processes each. Two kinds of noise: blocks of one process differ, and
/// one process as a whole differs from the next (layout of its code and memory, phase of its clock), which no number of
/// blocks in one process can show. Pure and deterministic: the bootstrap is seeded by the caller. Thread: any.

/// Block times of one process by round; nullopt where the block was dropped.
using Blocks = std::vector<std::optional<double>>;

/// What is known beforehand of a process's own share, as the standard deviation of its times: the larger of a fixed
/// time (in the blocks' unit) and a share. It stands in where one process cannot tell, and is never undercut by luck
/// where a few can.
struct ProcessNoise {
    double time = 0;
    double share = 0;
};
/// Times in microseconds. From null ratios of two runners on an H200 (core/README.md, "Clock and border"): ±2 % at 4
/// us, ±0.2 % at 33 us, ±0.02 % at 508 us. Behaves like a fixed offset of a process's events.
constexpr ProcessNoise measuredProcessNoise{0.04, 0.0002};

/// The time of a kernel: geometric mean over its processes of the median block, with its 95 % interval.
/// No block at all: {0, 0, inf}.
Interval timeOver(std::span<const Blocks> runners, const ProcessNoise& noise, std::uint64_t seed);

/// rival's time over candidate's: geometric mean, over the processes, of the ratio of medians, with its 95 % interval.
/// Process i of both sides ran in the same rounds: their blocks are paired by index, so drift hits both, and a pair
/// with a dropped member does not count. Both spans have the same length.
///
/// The interval is built in two levels on a logarithmic scale. Blocks: bootstrap over the pairs of every process.
/// Processes: the variance between their medians, both sides apart, with Student's quantile for Welch's degrees of
/// freedom. A percentile bootstrap over three processes cannot reach beyond the smallest and the largest of them and
/// covers the truth in 75 of 100 cases only; Student's quantile is what corrects that (T. Hesterberg, "What Teachers
/// Should Know About the Bootstrap", The American Statistician 69, 2015). One process: its blocks and `noise`.
Interval speedupOver(std::span<const Blocks> rival, std::span<const Blocks> candidate, const ProcessNoise& noise,
                     std::uint64_t seed);

/// Student's 97.5 % quantile, by interpolation in 1/degrees (exact to 0.5 % from one degree on).
double studentQuantile(double degrees);

enum class Comparison { Slower, Tie, Faster };
/// Differences of less than this are called a tie however exactly they were measured.
constexpr double leastDifference = 0.01;
/// What a speed-up says: faster or slower only where its interval excludes 1 *and* its value differs by at least
/// `band`. Figures that are computed, not measured, are compared with a band of 0.
Comparison compare(const Interval& speedup, double band = leastDifference);
std::string_view nameOf(Comparison comparison); ///< "slower", "tie", "faster"

/// The speed-up of one kernel over another from their speed-ups over a third, measured apart: relative errors add in
/// quadrature.
Interval quotient(const Interval& over, const Interval& under);

} // namespace espalier::statistics
