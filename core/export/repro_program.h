// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/node.h"
#include "core/model/task.h"

#include <string>

namespace espalier {

/// What a repro program is made from. Refers to what it is given.
struct ReproRequest {
    const Task& task;
    const NodeDetail& node;
    std::string prototype; ///< of entry and workspace query, as built against (entryHeader)
    std::string caseId;    ///< empty: the first verified one
    std::uint64_t seed = 1;
};

/// One self-contained .cu: the candidate untouched, and a main() that makes this case's inputs on the host (same shapes
/// and distributions; a seed of its own, the judge's are secret), launches the kernel a few times on a stream, waits,
/// and prints times and what the outputs hold. For ncu, cuda-gdb, compute-sanitizer or a bug report: `nvcc -lineinfo
/// repro.cu`. Pure. Errors: NotFound for a case, InvalidInput for a node without a source, NotSupported naming the
/// argument that it cannot make.
Result<std::string> reproProgram(const ReproRequest& request);

} // namespace espalier
