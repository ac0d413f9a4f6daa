// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/incumbent.h"
#include "core/engine/engine_parts.h"
#include "core/store/store.h"

#include <memory>

namespace espalier {

/// A session that is open for writing, with its task.
struct OpenedSession {
    std::unique_ptr<Store> store;
    std::shared_ptr<const Task> task;
    std::optional<Incumbent> incumbent; ///< the one asked for, else the task's
};

/// Who takes part in a session, with its models as they are saved now or as the session remembers them.
Result<ProposerChoice> proposerChoice(const SessionInfo& info, const EngineOptions& options);

/// Errors: InvalidInput: a limit is negative.
Result<void> checkBudget(const Budget& budget);

/// Opens the session file, or creates it with the task's root as node 1. Errors: one sentence each: no task named for a
/// new session, the task cannot be loaded, another operation than the session's is named, options that conflict with
/// the session, an unknown device, strategy or proposer, and the store's.
Result<OpenedSession> openSession(const EngineOptions& options, const EngineParts& parts);

} // namespace espalier
