// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/propose/tunables.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// Index of a value for each tunable.
using TuningPoint = std::vector<std::size_t>;

/// A small generator of our own: the standard distributions differ between libraries, and a session must not.
class TuningRandom
{
public:
    TuningRandom(std::uint64_t seed, std::int64_t idea, int ordinal);
    std::size_t below(std::size_t bound);

private:
    std::uint64_t m_state = 0;
};

/// The grid of one kernel's tunables, values ascending, the kernel's own included, without what its conditions
/// (`// espalier: tune-if`) exclude: a combination that cannot work costs nothing. Thread: any.
class TuningSpace
{
public:
    static constexpr std::size_t mostListed = 20'000; ///< larger grids are sampled, not listed

    explicit TuningSpace(const SourceMarks& marks);

    std::size_t dimensions() const { return m_tunables.size(); }
    std::size_t values(std::size_t dimension) const { return m_tunables[dimension].values.size(); }
    const TuningPoint& start() const { return m_start; }
    bool allowed(const TuningPoint& point) const;
    std::size_t size() const { return m_size; } ///< points of the whole grid, capped at a million
    /// Allowed points other than the start, where the grid is small enough to be listed; else all points but one.
    std::size_t choices() const;
    bool listed() const { return m_size <= mostListed; }
    const std::vector<TuningPoint>& points() const { return m_points; } ///< all allowed ones; empty unless listed()
    TunableValues valuesAt(const TuningPoint& point) const;
    /// The point that a candidate's payload names; nullopt when it is of another grid.
    std::optional<TuningPoint> pointOf(const std::string& payload) const;
    std::vector<TuningPoint> neighboursOf(const TuningPoint& point) const; ///< allowed, one step in one dimension
    /// An allowed point; nullopt where none is found soon.
    std::optional<TuningPoint> anyPoint(TuningRandom& random) const;

private:
    std::vector<Tunable> m_tunables;
    std::vector<TuneCondition> m_conditions;
    TuningPoint m_start;
    std::size_t m_size = 1;
    std::vector<TuningPoint> m_points;
};

} // namespace espalier
