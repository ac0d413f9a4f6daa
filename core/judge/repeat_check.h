// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/oracle_comparison.h"

#include <cstddef>
#include <vector>

namespace espalier::judge {

/// The outputs of calls with the same inputs, element by element. Holds the first call's outputs in host memory.
/// Thread: the judge's.
class RepeatCheck
{
public:
    /// Outputs larger than this, together, are not repeated.
    static constexpr std::uint64_t mostBytes = std::uint64_t{16} << 20;
    static bool serves(const CasePlan& plan);
    /// Of the plans that it serves the one to repeat: the largest where repeating costs little, else the cheapest that
    /// has something to compare. Its index; plans.size(): none.
    static std::size_t choose(const std::vector<CasePlan>& plans, bool simulated);

    /// Takes in one more call's outputs. Errors: the device's.
    Result<void> add(Device& device, const WorkArea& area, std::size_t set);
    /// What was found so far; `caseId` is the plan's.
    const RepeatRecord& record() const { return m_record; }
    /// Name of the first element whose bits differed, such as "y[3][7]"; empty: none.
    const std::string& firstDifferent() const { return m_firstDifferent; }

private:
    void compare(const ArgumentPlan& argument, std::size_t index, const std::vector<std::byte>& bytes, double u);

    std::vector<std::vector<std::byte>> m_first; ///< by argument
    std::vector<std::vector<bool>> m_differs;    ///< by argument and element
    RepeatRecord m_record;
    std::string m_firstDifferent;
};

} // namespace espalier::judge
