// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/task.h"

#include <map>
#include <string>

namespace espalier {

/// The files of a task by their paths in its folder, from the texts that it was loaded with: what loadTask() reads
/// again elsewhere. The playbook is left out (its file says so), since it is the author's and changes no verdict. Pure.
std::map<std::string, std::string> taskFolderOf(const Task& task);

} // namespace espalier
