// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"

#include <optional>
#include <string_view>

namespace espalier::llm {

/// JSON as models write it: comments, trailing or missing commas, single or typographic quotes around names, True /
/// None, raw line ends inside strings, and an end that was cut off (what is complete by then is kept, a cut string is
/// dropped). Reads one value from the start of `text`, which must begin with { or [; `used`, when given, is the number
/// of bytes it took. nullopt when it is no such value. Nesting is limited to 64, elements to 100,000. Thread: any;
/// pure.
std::optional<Json> parseTolerantly(std::string_view text, std::size_t* used = nullptr);

} // namespace espalier::llm
