// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::test {

/// A line of a help text or a README that a user copies: a command, at least two blanks, what it does.
struct Example {
    std::string verb, command, does;
    bool needsMore() const { return does.find("(needs ") != std::string::npos; } ///< a GPU, a key, …
};

/// The lines of a text that start, indented, with espalierctl and a verb in small letters.
std::vector<Example> examplesIn(std::string_view text);

} // namespace espalier::test
