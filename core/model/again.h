// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace espalier {

/// Why a kernel that has its verdict is judged once more, on new inputs.
enum class Again {
    Front,   ///< its quick figure reaches the best: the full tier, before the search builds on it
    Winner,  ///< before it is promoted: gate, sanitizer, the full tier, a profile
    Verify,  ///< the engineer asks: gate and sanitizer
    Time,    ///< the full tier
    Profile, ///< all counters, and samples by source line
};

constexpr std::string_view nameOf(Again what)
{
    switch (what) {
    case Again::Front:
        return "front";
    case Again::Winner:
        return "winner";
    case Again::Verify:
        return "verify";
    case Again::Time:
        return "time";
    case Again::Profile:
        return "profile";
    }
    return "";
}

} // namespace espalier
