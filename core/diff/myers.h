// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace espalier {

/// `length` equal elements: left[left + i] == right[right + i].
struct MatchRun {
    int left = 0, right = 0, length = 0;
    bool operator==(const MatchRun&) const = default;
};

/// What two sequences have in common, as runs that ascend on both sides and never touch: everything between two runs
/// was removed (left) or added (right). Shortest edit script (Myers' greedy algorithm) as long as it takes at most
/// `costCap` edits; a costlier stretch is split at elements that are unique on both sides, and where there are none it
/// is taken piece by piece. Hence time and memory stay near costCap * (left + right) for any input; the result is
/// always valid, and the shortest one below the cap.
/// Thread: any; a pure function. Errors: none.
std::vector<MatchRun> matchSequences(std::span<const int> left, std::span<const int> right, int costCap = 512);

} // namespace espalier
