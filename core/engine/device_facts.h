// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/worker/evaluator.h"

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// What the environment behind an epoch's figures is called, kept with the session for those who read it later (an
/// epoch itself is a hash). A value.
struct DeviceFacts {
    static constexpr std::string_view key = "engine.device_facts"; ///< of the session's value

    std::string epoch, driver, uuid, runtime;

    static DeviceFacts of(const JudgeHello& hello, std::string epoch);
    std::string text() const;
    static DeviceFacts parse(std::string_view text); ///< empty where the text is none
    /// The driver that figures of `epoch` were measured with; empty: not known.
    std::string driverOf(std::string_view epoch) const;
};

} // namespace espalier
