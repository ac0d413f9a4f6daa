// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace espalier {

/// How much of the search goes on: all that the budget has room for; or a step, which is one evaluation, of a candidate
/// that waits already or else of one new expansion; or nothing new at all. A value.
class StepLimit
{
public:
    StepLimit() = default; ///< the budget alone
    static StepLimit nothing() { return StepLimit(0, 0); }
    /// `evaluations`: so many there are. `waiting`: some candidate can be judged without a new expansion.
    static StepLimit step(std::int64_t evaluations, bool waiting) { return {waiting ? 0 : 1, evaluations + 1}; }

    bool isOn() const { return m_expansions.has_value(); }
    bool isSpent() const { return m_expansions == 0; } ///< nothing new is decided any more
    std::optional<int>& expansions() { return m_expansions; }
    /// Of the evaluations that there is room for, those that may be started or be under way.
    std::int64_t allowed(std::int64_t room, std::int64_t evaluations) const
    {
        return isOn() ? std::min(room, m_upTo - evaluations) : room;
    }

private:
    StepLimit(int expansions, std::int64_t upTo) : m_expansions(expansions), m_upTo(upTo) {}
    std::optional<int> m_expansions;
    std::int64_t m_upTo = 0;
};

} // namespace espalier
