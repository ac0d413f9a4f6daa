// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace espalier::profile {

constexpr int cuptiHardwareBusy = 26;

/// What keeps counters from being read, as a person would say it: cause and remedy. By CUPTI's result code; for codes
/// without a row of their own the sentence has the code. Pure.
struct CuptiObstacle {
    std::string cause;
    std::string remedy; ///< empty: there is none on this system
};
CuptiObstacle obstacleOf(int code);

/// "<what>: <cause>; <remedy> (<words>)". Codes: Busy for 26, NotSupported for what this system never offers, Internal
/// else.
Error cuptiError(const std::string& words, int code, std::string_view what);

} // namespace espalier::profile
