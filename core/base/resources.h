// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace espalier {

/// A file that ships with Espalier, such as "prompts/idea.md": in $ESPALIER_RESOURCES, else in
/// ../share/espalier/resources beside the program, else in the source tree. A path that does not exist when it is in
/// none of them.
std::filesystem::path resourceFile(std::string_view name);

} // namespace espalier
