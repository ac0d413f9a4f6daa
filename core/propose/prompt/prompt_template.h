// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// One prompt of resources/prompts as it is read: Markdown with `{{channel}}` where a channel's text goes. What stands
/// above a line `---` is the system message.
struct PromptTemplate {
    std::string name; ///< "idea"
    std::string file; ///< where it came from, for people
    std::string hash; ///< SHA-256 of its text
    std::string system, user;

    std::vector<std::string> placeholders() const; ///< of both parts, in order, without repeats
};

/// The names of the prompts that Espalier uses.
const std::vector<std::string>& promptNames();

/// Errors: InvalidInput naming the file and the placeholder that no channel has, or that is not closed.
Result<PromptTemplate> parsePrompt(std::string name, std::string file, std::string_view text);

/// Of $XDG_CONFIG_HOME/espalier/prompts/NAME.md where the user has one, else the one that ships. Errors: parsePrompt's,
/// the file's.
Result<PromptTemplate> loadPrompt(const std::string& name);

/// The text with each `{{channel}}` replaced; channels without a text vanish with their line.
std::string filled(std::string_view text, const std::map<std::string, std::string>& channels);

} // namespace espalier
