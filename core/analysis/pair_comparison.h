// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/analysis/fresh_runs.h"
#include "core/model/node.h"

#include <optional>
#include <string>

namespace espalier {

/// One of two candidates that are held against each other.
struct PairSide {
    const NodeSummary& node;
    std::optional<NodeId> parent; ///< the candidate or root that it was timed with
};

/// Which of two candidates of one session is better, and how surely.
struct PairVerdict {
    std::optional<Interval> speedup; ///< of the second over the first; nullopt: their figures cannot be compared
    bool together = false;           ///< both were timed in the same blocks
    statistics::Comparison comparison = statistics::Comparison::Tie;
    std::string sentence;
};

/// By the paired ratio where one of them is the other's parent or the root, else through the root, with both errors.
/// Figures of two epochs or of two editions of the task, and modelled ones with measured ones, are not compared. Pure;
/// thread: any.
PairVerdict comparePair(const PairSide& first, const PairSide& second);

} // namespace espalier
