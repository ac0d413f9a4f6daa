// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/fresh_runs.h"

#include "core/analysis/statistics.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace espalier::statistics {

namespace {

constexpr double normalQuantile = 1.959964;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Blocks of one process that count, of one or of both sides.
struct Run {
    std::vector<double> rival, candidate; ///< as long as each other, or `rival` empty
};

double square(double x)
{
    return x * x;
}

double logMedian(std::span<const double> blocks)
{
    return std::log(median(blocks));
}

double logRatio(const Run& run)
{
    return (run.rival.empty() ? 0 : logMedian(run.rival)) - (run.candidate.empty() ? 0 : logMedian(run.candidate));
}

double mean(std::span<const double> values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Unbiased; needs two values.
double variance(std::span<const double> values)
{
    const double centre = mean(values);
    double sum = 0;
    for (const double value : values) {
        sum += square(value - centre);
    }
    return sum / static_cast<double>(values.size() - 1);
}

std::uint64_t nextRandom(std::uint64_t& state) ///< SplitMix64: the same numbers with every standard library
{
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// Variance of one process's log ratio that comes from having seen so few of its blocks: bootstrap over pairs, freed of
/// the bootstrap's bias for few blocks.
double blockVariance(const Run& run, std::uint64_t seed)
{
    constexpr int draws = 200; // a standard deviation to 5 %
    const std::size_t blocks = std::max(run.rival.size(), run.candidate.size());
    if (blocks < 2) {
        return infinity;
    }
    std::uint64_t state = seed;
    std::vector<std::size_t> chosen(blocks);
    std::vector<double> ratios, drawn(blocks);
    ratios.reserve(draws);
    const auto drawnMedian = [&](const std::vector<double>& side) {
        for (std::size_t b = 0; b < blocks; ++b) {
            drawn[b] = side[chosen[b]];
        }
        return medianInPlace(drawn);
    };
    for (int i = 0; i < draws; ++i) {
        for (std::size_t& from : chosen) {
            from = ((nextRandom(state) >> 32) * blocks) >> 32;
        }
        const double up = run.rival.empty() ? 1 : drawnMedian(run.rival);
        const double down = run.candidate.empty() ? 1 : drawnMedian(run.candidate);
        ratios.push_back(std::log(up / down));
    }
    const double n = static_cast<double>(blocks);
    return variance(ratios) * n / (n - 1);
}

double relativeNoise(const ProcessNoise& noise, double time)
{
    return std::max(noise.share, time > 0 ? noise.time / time : 0.0);
}

/// Squared standard error of the mean over processes, and the degrees of freedom behind it.
struct Error {
    double squared = 0;
    double degrees = infinity;
};

/// Between the processes: each side's own variance (Welch).
Error betweenProcesses(const std::vector<Run>& runs)
{
    const double n = static_cast<double>(runs.size());
    double sum = 0, weights = 0;
    for (const auto side : {&Run::rival, &Run::candidate}) {
        std::vector<double> medians;
        for (const Run& run : runs) {
            if (!(run.*side).empty()) {
                medians.push_back(logMedian(run.*side));
            }
        }
        if (medians.size() >= 2) {
            const double part = variance(medians) / n;
            sum += part;
            weights += square(part) / (n - 1);
        }
    }
    return {sum, weights > 0 ? square(sum) / weights : infinity};
}

/// The interval around exp(mean of the runs' log ratios).
Interval around(const std::vector<Run>& runs, const ProcessNoise& noise, std::uint64_t seed)
{
    if (runs.empty()) {
        return {0, 0, infinity};
    }
    const double n = static_cast<double>(runs.size());
    std::vector<double> ratios;
    double blocks = 0, known = 0;
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Run& run = runs[i];
        ratios.push_back(logRatio(run));
        blocks += blockVariance(run, seed + i) / square(n);
        fewest = std::min(fewest, std::max(run.rival.size(), run.candidate.size()));
        for (const auto side : {&Run::rival, &Run::candidate}) {
            if (!(run.*side).empty()) {
                known += square(relativeNoise(noise, median(run.*side)) / n);
            }
        }
    }
    const double value = std::exp(mean(ratios));
    if (!(blocks < infinity)) {
        return {value, 0, infinity};
    }
    const double ofBlocks = studentQuantile(static_cast<double>(fewest - 1) * n);
    double half = std::sqrt(square(ofBlocks) * blocks + square(normalQuantile) * known);
    if (runs.size() >= 2) {
        const Error between = betweenProcesses(runs);
        half = std::max(half, studentQuantile(between.degrees) * std::sqrt(between.squared));
    }
    return {value, value * std::exp(-half), value * std::exp(half)};
}

} // namespace

double studentQuantile(double degrees)
{
    struct Point {
        double degrees, quantile;
    };
    constexpr std::array points = {Point{1, 12.7062}, Point{2, 4.3027},  Point{3, 3.1824},  Point{4, 2.7764},
                                   Point{5, 2.5706},  Point{6, 2.4469},  Point{8, 2.3060},  Point{10, 2.2281},
                                   Point{15, 2.1314}, Point{20, 2.0860}, Point{40, 2.0211}, Point{120, 1.9799}};
    if (!(degrees > points[0].degrees)) { // also NaN
        return points[0].quantile;
    }
    for (std::size_t i = 1; i < points.size(); ++i) {
        if (degrees <= points[i].degrees) {
            const Point &below = points[i - 1], &above = points[i];
            const double share =
                (1 / below.degrees - 1 / degrees) / (1 / below.degrees - 1 / above.degrees); // t is nearly linear in it
            return std::lerp(below.quantile, above.quantile, share);
        }
    }
    return std::lerp(normalQuantile, points.back().quantile, points.back().degrees / degrees);
}

Interval timeOver(std::span<const Blocks> runners, const ProcessNoise& noise, std::uint64_t seed)
{
    std::vector<Run> runs;
    for (const Blocks& blocks : runners) {
        Run run;
        for (const auto& time : blocks) {
            if (time && *time > 0) {
                run.rival.push_back(*time); // a time is a ratio over nothing
            }
        }
        if (!run.rival.empty()) {
            runs.push_back(std::move(run));
        }
    }
    return around(runs, noise, seed);
}

Interval speedupOver(std::span<const Blocks> rival, std::span<const Blocks> candidate, const ProcessNoise& noise,
                     std::uint64_t seed)
{
    assert(rival.size() == candidate.size());
    std::vector<Run> runs;
    for (std::size_t i = 0; i < rival.size(); ++i) {
        Run run;
        for (std::size_t b = 0; b < std::min(rival[i].size(), candidate[i].size()); ++b) {
            const auto &up = rival[i][b], &down = candidate[i][b];
            if (up && down && *up > 0 && *down > 0) {
                run.rival.push_back(*up);
                run.candidate.push_back(*down);
            }
        }
        if (!run.rival.empty()) {
            runs.push_back(std::move(run));
        }
    }
    return around(runs, noise, seed);
}

Comparison compare(const Interval& speedup, double band)
{
    if (speedup.low > 1 && speedup.value > 1 + band) {
        return Comparison::Faster;
    }
    if (speedup.high < 1 && speedup.value < 1 / (1 + band)) {
        return Comparison::Slower;
    }
    return Comparison::Tie;
}

std::string_view nameOf(Comparison comparison)
{
    switch (comparison) {
    case Comparison::Slower:
        return "slower";
    case Comparison::Faster:
        return "faster";
    case Comparison::Tie:
        break;
    }
    return "tie";
}

Interval quotient(const Interval& over, const Interval& under)
{
    if (!(over.value > 0) || !(under.value > 0)) {
        return {0, 0, infinity};
    }
    const double value = over.value / under.value;
    const auto wide = [](double small, double large) { return small > 0 ? std::log(large / small) : infinity; };
    const double below = std::hypot(wide(over.low, over.value), wide(under.value, under.high));
    const double above = std::hypot(wide(over.value, over.high), wide(under.low, under.value));
    return {value, value * std::exp(-below), value * std::exp(above)};
}

} // namespace espalier::statistics
