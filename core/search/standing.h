// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/model/session.h"
#include "core/propose/background.h"
#include "core/store/store.h"

#include <string>
#include <vector>

namespace espalier {

/// What the engineer told a session for good, as the session keeps it under its names. What is damaged is left out.
/// Errors: the store's.
inline constexpr const char* hintsKey = "prompt.hints";
inline constexpr const char* bansKey = "search.bans";
inline constexpr const char* attachmentsKey = "prompt.attachments";

std::vector<std::string> hintsFrom(const Json& json);
Result<std::vector<std::string>> hintsIn(Store& store);
Result<std::vector<BannedTechnique>> bansIn(Store& store);
Result<std::vector<Attachment>> attachmentsIn(Store& store);

/// The last candidate whose outcome the search has decided with; 0: none.
inline constexpr const char* consumedKey = "search.consumed";
Result<NodeId> lastConsumed(Store& store);

/// For the complaint about a number or name that is not there: 'the session has 1 "no fp16", 2 "be brief"'; "the
/// session has none".
std::string numberedChoices(const std::vector<std::string>& texts);
std::string namedChoices(const std::vector<Attachment>& attachments);

} // namespace espalier
