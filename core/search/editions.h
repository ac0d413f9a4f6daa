// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task_parts.h"
#include "core/store/store.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace espalier {

/// Which records still hold after the session's task became another edition. An edition only ever makes records older,
/// so that for the root and for candidates one number says it: the edition from which on records hold. Thread: the
/// store's. Errors: the store's.
namespace editions {

struct Since {
    std::int64_t root = 1, candidates = 1;
};

Result<Since> since(Store& store);
/// `edition` has begun, and means `change` for what was recorded before. `rootBefore`: the source of the root until
/// now.
Result<void> begin(Store& store, std::int64_t edition, const EditionChange& change, const std::string& rootBefore);
/// The source of the root that the session's ratios are over, while the present one has not been timed beside it;
/// nullopt: they are over the present one.
Result<std::optional<std::string>> rootOfRatios(Store& store);
Result<void> ratiosRenewed(Store& store); ///< they are over the present root from now on
/// Of all records of one node those that say what it is now. The root's are of its present source and gate. A candidate
/// that has a verdict keeps it (outdated() marks it); one whose pass goes on has passed the present gate only where a
/// record of that says so.
std::vector<StoredStage> holding(std::vector<StoredStage> stages, NodeId node, const Since& since);
/// The same, read.
Result<std::vector<StoredStage>> stagesOf(Store& store, NodeId node);
/// Candidates whose verdict is of an edition that does not hold any more.
Result<std::set<NodeId>> outdated(Store& store);

} // namespace editions

} // namespace espalier
