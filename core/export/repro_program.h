// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/call_recipe.h"
#include "core/model/node.h"
#include "core/model/task.h"

#include <optional>
#include <string>

namespace espalier {

/// What a repro program is made from. Refers to what it is given.
struct ReproRequest {
    const Task& task;
    const NodeDetail& node;
    std::string caseId;                ///< empty: the call that failed, else the first verified case
    std::optional<std::uint64_t> seed; ///< of the first input; absent: those of the call that failed, else from 1 on
    bool check = true;                 ///< with the oracle; false: the calls alone, as a profiler wants them
};

/// What the judge left of the call that the node's kernel failed; nullopt: it passed, or fell to another check.
std::optional<CallRecipe> failedCall(const Evaluation& evaluation);

/// One self-contained .cu: the candidate untouched, and a main() that makes the call's inputs on the host (byte for
/// byte what the judge drew, with the judge's own operations), launches the kernel a few times on a stream, waits,
/// prints times and compares every output with the task's oracle. For ncu, cuda-gdb, compute-sanitizer or a bug report;
/// its first lines say how it is built and what it understands. Serves what the judge serves. Pure. Errors: NotFound
/// for a case, InvalidInput for a node without a source, NotSupported for what the judge does not serve.
Result<std::string> reproProgram(const ReproRequest& request);

} // namespace espalier
