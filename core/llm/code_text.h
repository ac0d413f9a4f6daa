// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::llm {

/// What a piece of C++ says, read without a parser: the compiler decides. Pure functions, linear in the text, over
/// bytes of any kind.

/// The code with comments, strings and character constants as blanks; line ends and offsets stay.
std::string maskedCode(std::string_view code);

/// What a piece of code does with a function.
enum class EntryUse { Absent, Named, Defined };
/// Defined: the name, a parameter list, and a body. `masked`: see maskedCode().
EntryUse useOf(std::string_view masked, std::string_view entry);

std::vector<std::string_view> wordsIn(std::string_view text); ///< names, keywords, numbers

/// What a kernel file holds whatever else is in it.
bool looksLikeSource(std::string_view code);

/// Every brace that opens closes, and nothing is left open at the end.
bool balanced(std::string_view masked);

/// The top level of a piece of code.
struct CodeOutline {
    std::vector<std::string> functions, types; ///< that it defines
    bool loose = false;                        ///< something stands there that is no declaration: a part of a function
};
CodeOutline outlineOf(std::string_view masked);

/// A change to a file instead of the file: a unified diff, or the marks of search and replace.
bool looksLikeDiff(std::string_view text);

/// The code as the compiler can read it: typographic quotes, dashes and blanks outside comments and strings, entities
/// of HTML, numbers before every line, and a file in one line with "\n" in it. `notes`: what was changed.
std::string cleanedCode(std::string_view code, std::vector<std::string>& notes);

} // namespace espalier::llm
