// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/model/evaluation.h"
#include "core/model/session.h"
#include "core/model/task.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// What bans need of a build, so that they can be looked up in it later: what each kernel holds, with names cut short.
std::vector<KernelResources> heldBy(const BuildRecord& build);
/// A sentence on the first of the limits that they break; nullopt: none. Limits on the library's size and on what a
/// call does are not in a build's record: they are held when a candidate is built and judged, and not looked up here.
std::optional<std::string> brokenBan(const std::vector<Limit>& limits, const std::vector<KernelResources>& kernels);

/// The evidence with which a built candidate ends that was never judged, because of a ban.
inline constexpr std::string_view banCheck = "ban";
bool endedByBan(const Evaluation& evaluation);

} // namespace espalier
