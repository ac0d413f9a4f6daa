// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/model/session.h"
#include "core/store/store.h"

#include <string>
#include <vector>

namespace espalier {

/// What the engineer told a session for good, as the session keeps it under its names. What is damaged is left out.
/// Errors: the store's.
inline constexpr const char* hintsKey = "prompt.hints";
inline constexpr const char* bansKey = "search.bans";

std::vector<std::string> hintsFrom(const Json& json);
Result<std::vector<std::string>> hintsIn(Store& store);
Result<std::vector<BannedTechnique>> bansIn(Store& store);

} // namespace espalier
