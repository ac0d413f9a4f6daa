// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/chat.h"
#include "core/propose/llm/llm_settings.h"

#include <string>
#include <vector>

namespace espalier {

/// What a session remembers of a model: a JSON object without keys, header values and proxies, which may be secrets.
std::string recordOf(const llm::ModelProfile& profile);
/// Errors: InvalidInput for a text that is no such object.
Result<llm::ModelProfile> profileFrom(const std::string& record);

std::string recordOf(const LlmSettings& settings);
LlmSettings settingsFrom(const std::string& record); ///< defaults for what is missing or broken

} // namespace espalier
