// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/node.h"
#include "core/store/store.h"

#include <map>
#include <optional>
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

/// Whether a node is an evaluation of the branches that it is below, as the session counts: what is on its way or was
/// judged, but not what was never built or left before it was. `counts`: of its verdict (countsAsEvaluation());
/// nullopt: it has none that the search has seen. `gone`: it or something above it is pruned.
bool countsInBranches(NodeKind kind, std::optional<bool> counts, bool gone);
/// Tokens, money and device seconds of a node with a verdict, for its own branch and those that it is below: what lost
/// answers may have cost counts.
BranchSpending costInBranches(const Spending& asked, double deviceSeconds);

/// Limit by limit: those of `set` hold from now on, those of `lift` ("usd") no more, the others stay as they are.
/// `spent`: by the branch so far. Errors: InvalidInput: a branch has no such limit.
Result<BranchLimits> changedLimits(BranchLimits limits, const BranchBudget& set, const std::vector<std::string>& lift,
                                   const BranchSpending& spent);

} // namespace espalier
