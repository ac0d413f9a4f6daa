// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// What a program that a source is put into must know of it. All are read off the text, without a preprocessor: what a
/// macro makes is not seen. Any bytes. Thread: any; pure.

/// The text with comments and the contents of literals as blanks; lines stay where they are.
std::string codeOf(std::string_view source);

/// Names that the text defines as macros, each once, in order.
std::vector<std::string> macrosIn(std::string_view source);

/// The text's #include lines, with the conditionals around them: what must stand before a namespace that the text is
/// put into.
std::string includesIn(std::string_view source);

/// Whether the text has a body for a function of this name.
bool definesFunction(std::string_view source, std::string_view name);

} // namespace espalier
