// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace espalier {

/// How much is asked of models. A value.
struct LlmSettings {
    int ideas = 4;           ///< per expansion
    int implementations = 1; ///< per idea
    int repairs = 2;         ///< of a candidate that fails to build or verify
    std::int64_t maxOutputTokens = 16384;
    std::string reasoningEffort; ///< "", "low", "medium", "high"
    bool operator==(const LlmSettings&) const = default;
};

} // namespace espalier
