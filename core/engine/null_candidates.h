// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task.h"

#include <string>
#include <vector>

namespace espalier {

/// A candidate that does not do the task's work, as real .cu text: a task whose checks let one pass is not fit to be
/// searched. A value.
struct NullCandidate {
    std::string id;    ///< "no_op", "copy_x"
    std::string title; ///< what it does, in a few words
    std::string source;
    /// What it means when this one passes: one sentence with the remedy.
    std::string whenPassed;
};

/// Every null candidate that the task's signature can express. Sizes are worked out from the scalars that carry a
/// parameter; where a parameter is not passed, only those that need no sizes are made. Pure.
std::vector<NullCandidate> nullCandidates(const Task& task);

} // namespace espalier
