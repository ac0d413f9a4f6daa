// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/case_plan.h"
#include "core/judge/work_area.h"

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace espalier::judge {

/// One relation of the contract on one case: the case drawn from the arguments' own distributions.
struct RelationPlan {
    Metamorphic relation;
    CasePlan plan;
};

/// The contract's relations on the parameters of `base`. Errors: NotSupported "not_supported: contract.metamorphic[i]:
/// …" for what no change of a draw can express.
Result<std::vector<RelationPlan>> planRelations(const Task& task, const TaskCase& base);

/// How the inputs of the second call differ from those of the first; amounts are drawn.
std::vector<InputChange> changesOf(const RelationPlan& relation, std::mt19937_64& random);

/// Outputs of one call in host memory, by argument; empty for others. Errors: the device's.
Result<std::vector<std::vector<std::byte>>> readOutputs(Device& device, const WorkArea& area, std::size_t set);

/// The sentence that says how the second call's outputs break the relation; nothing when they keep it. Both calls were
/// within the tolerance, so twice the tolerance is allowed, taken of the output's largest magnitude and of its norm.
std::optional<std::string> brokenRelation(const RelationPlan& relation, const std::vector<InputChange>& changes,
                                          const std::vector<std::vector<std::byte>>& before,
                                          const std::vector<std::vector<std::byte>>& after);

} // namespace espalier::judge
