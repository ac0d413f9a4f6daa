// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/model/evaluation.h"

#include <optional>
#include <string>
#include <vector>

namespace espalier::judge {

/// What an activity collector told (core/profile/activity_collector.h), understood. A claim: sizes are checked.
struct ActivitySeen {
    ActivityFacts facts;
    std::vector<ProfiledKernel> kernels; ///< of the first call, in order
    /// A sentence where the calls put work on the device that the given stream did not wait for, or claim less time
    /// than their work took.
    std::optional<std::string> outside;
    std::vector<std::string> remarks; ///< for a person, no verdict
};

/// Errors: InvalidInput where it is not what a collector tells. `timedUs`: the record's median of the case; 0: none.
Result<ActivitySeen> readActivity(const Json& seen, const std::string& caseId, double timedUs);

} // namespace espalier::judge
