// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/model/session.h"
#include "core/model/task.h"

#include <memory>
#include <string>
#include <vector>

namespace espalier {

/// Bans of the engineer's, as they are stored, said to models and held by the judge. Pure.

/// Errors: InvalidInput: nothing is banned, or the predicate is none.
Result<BannedTechnique> checkedBan(std::string text, std::string predicate);

Json toJson(const std::vector<BannedTechnique>& bans);
std::vector<BannedTechnique> bansFrom(const Json& json); ///< what is damaged is left out

/// Their predicates; each names its ban, so that evidence does.
std::vector<Limit> limitsOf(const std::vector<BannedTechnique>& bans);
/// The task as candidates are held to it: its contract's limits and those.
std::shared_ptr<const Task> taskUnder(const std::vector<BannedTechnique>& bans, std::shared_ptr<const Task> task);
std::string hintOf(const BannedTechnique& ban); ///< for prompts

} // namespace espalier
