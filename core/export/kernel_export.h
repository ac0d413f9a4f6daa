// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/node.h"
#include "core/model/session.h"
#include "core/model/task.h"

#include <filesystem>
#include <string>
#include <vector>

namespace espalier {

struct ExportRequest {
    const Task& task;
    const NodeDetail& node;
    const SessionInfo& session;
    std::string prototype;        ///< the task's entry header (core/build/entry_header)
    std::string form = "cuda";    ///< the only form so far
    std::filesystem::path folder; ///< created when it is missing
};

struct ExportedFiles {
    std::vector<std::string> files;
    std::string replaced; ///< a sentence: whose files stood there and where they are kept; empty: nobody else's
};

/// Writes a passed candidate (or root) for use in another code base: ENTRY.cu (the source untouched below a head that
/// says what was measured), ENTRY.h (the prototype), ENTRY.evidence.json (task, case, times, intervals, errors, device,
/// toolkit, provenance). An existing file with other content is kept beside as NAME.bak, NAME.bak2, …
/// Returns the paths, and a sentence where another node's files stood there. Thread: any. Errors: InvalidInput when the
/// node has no source or did not pass, NotSupported for another form, Io. What a person passed over the judge says so
/// in head and evidence.
Result<ExportedFiles> exportKernel(const ExportRequest& request);

} // namespace espalier
