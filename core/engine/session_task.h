// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/incumbent.h"
#include "core/model/task.h"
#include "core/model/task_parts.h"
#include "core/store/store.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// A session carries its task: every verb works from these texts, wherever the session lies and whatever has become of
/// the task's folder. Thread: the store's.
namespace session_task {

using Loader = std::function<Result<Task>(std::string_view nameOrFolder)>; ///< from the disk, supported

/// The task as the session's newest edition says; where a session of an older Espalier carries none, `load`ed from
/// where it was. Errors: that one is gone or has changed: one sentence with the remedy; the store's.
Result<Task> of(Store& store, const Loader& load);
/// The same with this machine's tasks.
Result<Task> of(Store& store);

/// Keeps the task as the session's first edition. Nothing where there is one.
Result<void> keep(Store& store, const Task& task);

/// Whether the task that the engineer named for an existing session is another edition of it. Writes nothing. Errors:
/// InvalidInput: another operation (id or prototype).
Result<bool> isAnother(Store& store, const Task& task);
/// That one takes over: its texts are kept, the root's node gets the new source, and the records that do not hold any
/// more are marked. The session's remark says what that means.
Result<void> adopt(Store& store, const Task& task);

/// The engineer's own rival, kept with the session up to 16 MiB. Loaded from the disk where it is not kept; `named`: it
/// was named for this opening, and a file that has changed is an error.
Result<std::optional<Incumbent>> incumbentOf(Store& store, const Task& task, bool named);

} // namespace session_task

} // namespace espalier
