// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/task.h"

#include <map>
#include <string>
#include <vector>

namespace espalier {

/// A task's own files, as they are written elsewhere.
struct TaskFolder {
    std::map<std::string, std::string> files; ///< by their paths in the folder
    std::vector<std::string> includeRoots;    ///< of the compiler: paths in the folder, or absolute ones
};

/// What loadTask() reads again elsewhere, from the texts that the task was loaded with and the headers in its include
/// folders. Include folders outside of the task's own and those with more than 16 MiB stay where they are, and the
/// written task names them by their absolute paths. The playbook is left out (its file says so), since it is the
/// author's and changes no verdict. Errors: Io: a header cannot be read.
Result<TaskFolder> taskFolderOf(const Task& task);

} // namespace espalier
