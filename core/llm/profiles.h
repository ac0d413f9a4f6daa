// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/llm/chat.h"

#include <filesystem>
#include <vector>

namespace espalier::llm {

/// Saved models: $XDG_CONFIG_HOME/espalier/models.json, {"models": [{"name", "provider", "base_url", "model",
/// "command", "folder", "headers": {}, "proxy", "ca_bundle", "key_variable", "connect_seconds", "first_token_seconds",
/// "stall_seconds", "total_seconds", "retry_after_cap_seconds", "most_retries", "context_tokens", "weight",
/// "channels": []}]}. A header's value may be "$NAME": the environment variable NAME, read when a client is made, so
/// that no secret stands in the file. Pure but for the two functions that say so; thread: any.
std::filesystem::path profilesFile();

/// Reads the file. One that does not exist holds no profiles. Errors: InvalidInput naming file, field and what was
/// expected; Io.
Result<std::vector<ModelProfile>> loadProfiles(const std::filesystem::path& file = profilesFile());
/// Writes it atomically. Errors: InvalidInput where a header that looks like a secret, or a proxy with a password, is
/// written out in place of "$NAME"; Io.
Result<void> saveProfiles(const std::vector<ModelProfile>& profiles,
                          const std::filesystem::path& file = profilesFile());

Json toJson(const ModelProfile& profile);
Result<ModelProfile> profileFrom(const JsonReader& reader);

/// "$NAME" replaced by the variable's value (empty when it is not set); anything else as it is.
std::string fromEnvironment(const std::string& value);

} // namespace espalier::llm
