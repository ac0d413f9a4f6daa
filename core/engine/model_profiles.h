// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/chat.h"

#include <string>
#include <vector>

namespace espalier {

/// A model profile of $XDG_CONFIG_HOME/espalier/models.json. Errors: NotFound naming the profile and those there are;
/// InvalidInput naming the file and the field.
Result<llm::ModelProfile> savedProfile(const std::string& name);
std::vector<std::string> savedProfileNames(); ///< empty where there are none, or the file cannot be read

} // namespace espalier
