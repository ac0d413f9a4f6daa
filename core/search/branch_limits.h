// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/node.h"
#include "core/store/store.h"

#include <map>
#include <string>
#include <vector>

namespace espalier {

/// What a branch may spend, and what it had spent when each limit was set. A value.
struct BranchLimits {
    BranchBudget budget;
    BranchSpending before;
};

/// As a session keeps them. Errors: the store's; what is damaged is left out.
inline constexpr const char* branchLimitsPrefix = "search.branch_budget.";
std::string branchLimitsKey(NodeId node);
std::string branchLimitsText(const BranchLimits& limits); ///< empty: there is no limit
BranchLimits branchLimitsFrom(const std::string& text);
Result<std::map<NodeId, BranchLimits>> branchLimitsIn(Store& store);

/// Limit by limit: those of `set` hold from now on, those of `lift` ("usd") no more, the others stay as they are.
/// `spent`: by the branch so far. Errors: InvalidInput: a branch has no such limit.
Result<BranchLimits> changedLimits(BranchLimits limits, const BranchBudget& set, const std::vector<std::string>& lift,
                                   const BranchSpending& spent);

} // namespace espalier
