// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/command.h"
#include "core/llm/chat.h"
#include "core/propose/llm/llm_settings.h"

#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// A model profile of $XDG_CONFIG_HOME/espalier/models.json. Errors: NotFound naming the profile and those there are;
/// InvalidInput naming the file and the field.
Result<llm::ModelProfile> savedProfile(const std::string& name);
/// The command by which proposers and models join or leave a session. `settings`: how much models are asked for;
/// nullopt: as before.
command::ChangeProposers proposersChange(std::vector<std::string> add, std::vector<std::string> remove,
                                         const std::vector<llm::ModelProfile>& models,
                                         const std::optional<LlmSettings>& settings);
std::vector<std::string> savedProfileNames(); ///< empty where there are none, or the file cannot be read

} // namespace espalier
