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
    std::string form = "cuda";    ///< the only form so far
    std::filesystem::path folder; ///< created when it is missing
    std::string name;             ///< of files and C function; empty: the entry's (ExportNames)
    std::string driver;           ///< that the figures were measured with; empty: not known, or none (simulated)
};

struct ExportedFiles {
    std::vector<std::string> files;
    std::string replaced; ///< a sentence: whose files stood there and where they are kept; empty: nobody else's
};

/// Writes a passed candidate (or root) for use in another code base: NAME.cu (the source untouched, see
/// exportedSource), NAME.h (prototypes and preconditions), NAME.evidence.json (case, times, intervals, errors,
/// contract, device, toolkit, provenance), NAME.task (the task's own files, so that it can be judged again anywhere)
/// and, last, NAME.sha256 (the hashes of all of them, as sha256sum writes them). A missing folder appears whole; in an
/// existing one each file is replaced whole, and until the last one is, the hashes tell that something is missing. An
/// existing file with other content is kept beside as NAME.bak, NAME.bak2, …, and so is a file in NAME.task that this
/// task does not have. Returns the paths, and a sentence where
/// another node's files stood there. Thread: any. Errors: InvalidInput when the node has no source or did not pass, or
/// for a name that is no C identifier; NotSupported for another form; Io. What a person passed over the judge says so
/// in head and evidence.
Result<ExportedFiles> exportKernel(const ExportRequest& request);

} // namespace espalier
