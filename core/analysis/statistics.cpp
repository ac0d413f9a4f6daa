// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace espalier::statistics {

namespace {

/// SplitMix64: small, and the same numbers with every standard library.
class Draw
{
public:
    explicit Draw(std::uint64_t seed) : m_state(seed) {}
    std::size_t below(std::size_t limit)
    {
        m_state += 0x9e3779b97f4a7c15ULL;
        std::uint64_t x = m_state;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        x ^= x >> 31;
        return static_cast<std::size_t>(((x >> 32) * limit) >> 32); // limit is a number of blocks: far below 2^32
    }

private:
    std::uint64_t m_state;
};

/// The percentile interval of a statistic over resampled block indices.
template <typename Statistic>
Interval bootstrap(std::size_t blocks, double value, std::uint64_t seed, const Statistic& statistic)
{
    if (blocks < 2) {
        return {value, 0, std::numeric_limits<double>::infinity()};
    }
    Draw draw(seed);
    std::vector<std::size_t> chosen(blocks);
    std::vector<double> results;
    results.reserve(resamples);
    for (int i = 0; i < resamples; ++i) {
        for (std::size_t& index : chosen) {
            index = draw.below(blocks);
        }
        results.push_back(statistic(chosen));
    }
    return {value, std::min(value, quantile(results, 0.025)), std::max(value, quantile(results, 0.975))};
}

} // namespace

double medianInPlace(std::vector<double>& values)
{
    if (values.empty()) {
        return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) {
        return *middle;
    }
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double median(std::span<const double> values)
{
    std::vector<double> copy(values.begin(), values.end());
    return medianInPlace(copy);
}

double quantile(std::span<const double> values, double share)
{
    if (values.empty()) {
        return 0;
    }
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

Interval medianInterval(std::span<const double> blocks, std::uint64_t seed)
{
    std::vector<double> sample(blocks.size());
    return bootstrap(blocks.size(), median(blocks), seed, [&](const std::vector<std::size_t>& chosen) {
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            sample[i] = blocks[chosen[i]];
        }
        return medianInPlace(sample);
    });
}

Interval ratioOfMedians(std::span<const double> rival, std::span<const double> candidate, std::uint64_t seed)
{
    assert(rival.size() == candidate.size());
    const double below = median(candidate);
    if (!(below > 0)) {
        return {0, 0, std::numeric_limits<double>::infinity()};
    }
    std::vector<double> up(rival.size());
    std::vector<double> down(rival.size());
    return bootstrap(rival.size(), median(rival) / below, seed, [&](const std::vector<std::size_t>& chosen) {
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            up[i] = rival[chosen[i]];
            down[i] = candidate[chosen[i]];
        }
        return medianInPlace(up) / medianInPlace(down);
    });
}

double relativeHalfWidth(const Interval& interval)
{
    return interval.value > 0 ? (interval.high - interval.low) / 2 / interval.value
                              : std::numeric_limits<double>::infinity();
}

std::optional<Interval> geometricMean(std::span<const Weighted> parts)
{
    double weights = 0, logs = 0, below = 0, above = 0;
    for (const Weighted& part : parts) {
        if (part.weight <= 0) {
            continue;
        }
        if (!(part.interval.value > 0)) {
            return std::nullopt;
        }
        weights += part.weight;
        logs += part.weight * std::log(part.interval.value);
        const double low = part.weight * std::log(part.interval.value / std::max(part.interval.low, 1e-300));
        const double high = part.weight * std::log(part.interval.high / part.interval.value);
        below += low * low;
        above += high * high;
    }
    if (weights <= 0) {
        return std::nullopt;
    }
    const double value = std::exp(logs / weights);
    return Interval{value, value * std::exp(-std::sqrt(below) / weights), value * std::exp(std::sqrt(above) / weights)};
}

std::optional<Interval> arithmeticMean(std::span<const Weighted> parts)
{
    double weights = 0, sum = 0, below = 0, above = 0;
    for (const Weighted& part : parts) {
        if (part.weight <= 0) {
            continue;
        }
        weights += part.weight;
        sum += part.weight * part.interval.value;
        below += std::pow(part.weight * (part.interval.value - part.interval.low), 2);
        above += std::pow(part.weight * (part.interval.high - part.interval.value), 2);
    }
    if (weights <= 0) {
        return std::nullopt;
    }
    const double value = sum / weights;
    return Interval{value, value - std::sqrt(below) / weights, value + std::sqrt(above) / weights};
}

} // namespace espalier::statistics
