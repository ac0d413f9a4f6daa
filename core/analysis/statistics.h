// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace espalier::statistics {

/// Pure statistics of timings. Nothing here knows a unit: what goes in comes out. Deterministic: a bootstrap draws from
/// a generator seeded by the caller. Thread: any.

double median(std::span<const double> values);                 ///< 0 for no values
double medianInPlace(std::vector<double>& values);             ///< the same; reorders them
double quantile(std::span<const double> values, double share); ///< linear interpolation; 0 for no values

/// How many times a bootstrap resamples: enough that the interval's own noise is a tenth of its width.
constexpr int resamples = 600;

/// Median of the blocks with its 95 % percentile-bootstrap interval. One block: an interval of width zero says nothing,
/// so the interval is then [0, infinity).
Interval medianInterval(std::span<const double> blocks, std::uint64_t seed);

/// median(rival) / median(candidate) over blocks paired by index, with the 95 % bootstrap interval over *pairs* (what
/// drifts hits both members of a pair). Both spans have the same length.
Interval ratioOfMedians(std::span<const double> rival, std::span<const double> candidate, std::uint64_t seed);

/// Half the width of an interval relative to its value; infinity when the value is not positive.
double relativeHalfWidth(const Interval& interval);

struct Weighted {
    Interval interval;
    double weight = 1;
};
/// Weighted geometric mean; the intervals' relative errors are independent and add in quadrature. nullopt for no
/// positive weight or a value that is not positive.
std::optional<Interval> geometricMean(std::span<const Weighted> parts);
/// Weighted arithmetic mean, errors in quadrature.
std::optional<Interval> arithmeticMean(std::span<const Weighted> parts);

} // namespace espalier::statistics
