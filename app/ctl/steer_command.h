// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/ctl/verbs.h"
#include "core/base/json.h"
#include "core/engine/command.h"

#include <string>

namespace espalier::ctl {

/// The act as a command; files are read here. Errors: Io, InvalidInput: one sentence.
Result<command::Command> commandOf(const SteerVerb& options);

/// What is said of an act that was done; of a budget what holds now, read from the session.
struct SteerDone {
    Json json;
    std::string sentence;
};
SteerDone doneOf(const SteerVerb& options);

} // namespace espalier::ctl
