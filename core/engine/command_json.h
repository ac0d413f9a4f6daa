// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/engine/command.h"

#include <string_view>

namespace espalier::command {

/// Commands as JSON objects, {"command": "prune", "node": 5, "pruned": true}: every command, and nothing lost on the
/// way. Pure; thread: any.

Json toJson(const Command& command);
/// Errors: InvalidInput: one sentence that names the field, for what is no command, or has a field that it does not
/// know.
Result<Command> commandFrom(const Json& json);
Result<Command> parseCommand(std::string_view text);

/// Changes what the session does; the others ask for something that only an observer gets, or end the engine.
bool steers(const Command& command);

Json budgetJson(const Budget& budget);
Result<Budget> budgetFrom(const JsonReader& at);
/// Errors: InvalidInput: there is no such limit to lift.
Result<Budget> changedBudget(const Budget& now, const ChangeBudget& change);

} // namespace espalier::command
