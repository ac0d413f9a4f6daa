// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string_view>

namespace espalier {

/// When a timing of alternating blocks has seen enough. A value. Thread: any.
struct StoppingCriterion {
    int minimumBlocks = 30;
    int maximumBlocks = std::numeric_limits<int>::max();
    double halfWidth = 0.005;  ///< target: half the 95 % interval of the median ratio, relative
    double budgetSeconds = 10; ///< spent on this case
    int fewestBlocks = 3;      ///< two blocks have no interval worth the name; several processes need some each

    enum class Decision { Continue, Interval, Budget };
    /// `relativeHalfWidth` is the widest of the intervals that matter. `seconds`: spent, or what one more block will
    /// make of it. The budget ends a timing even below the minimum number of blocks, but never below `fewestBlocks`.
    Decision decide(int blocks, double relativeHalfWidth, double seconds) const;
};

std::string_view nameOf(StoppingCriterion::Decision decision); ///< "continue", "interval", "budget"

} // namespace espalier
