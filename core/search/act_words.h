// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace espalier {

/// What an engineer's act was, in words: "ban: no fp16 (fp16_instructions == 0)", "prune node 7". `what`: the act as
/// the session stores it, a JSON object; any other text is given back as it is. Thread: any.
std::string actInWords(std::string_view what);

} // namespace espalier
