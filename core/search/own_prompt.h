// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace espalier {

/// The payload of a candidate that is asked for with the engineer's own prompt, until its answer is there.
std::string ownPromptPayload(const std::string& prompt);
std::string ownPromptIn(const std::string& payload); ///< empty: there is none

} // namespace espalier
