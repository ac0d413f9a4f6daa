// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/task.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Reads tasks (tasks/SCHEMA.md, schema 1). The whole schema is parsed and checked; what judges cannot serve yet is
/// answered by checkSupported, never ignored. Thread: any; no state.
/// Errors: InvalidInput naming file, field and what was expected; NotFound with where was looked.

/// Contents of a file of the task's folder, by the path that the task wrote. Errors: NotFound, InvalidInput (a path
/// that leaves the folder), Io.
using TaskFiles = std::function<Result<std::string>(std::string_view path)>;

/// The folder of built-in tasks: $ESPALIER_TASKS, else ../share/espalier/tasks beside the program, else the source
/// tree's.
std::filesystem::path builtInTasksFolder();

/// Names of the built-in tasks, sorted: folders that hold a task.json.
std::vector<std::string> listTasks();

/// A built-in task (a name without '/' that exists), else a folder.
Result<Task> loadTask(std::string_view nameOrFolder);

/// `json` is the text of task.json. Without `files` nothing else is read: sources keep their names but have no text,
/// the playbook is empty and the hash covers the JSON alone. That is what a judge needs of a task that travelled to it.
/// `folder` is where relative include roots start and what messages name; it is not read.
Result<Task> parseTask(std::string_view json, const TaskFiles& files = {}, const std::filesystem::path& folder = {});

/// The folders that the task's sources include from are there. Errors: NotFound naming field and folder.
Result<void> checkIncludeFolders(const Task& task);

/// What this version's judges serve. Errors: NotSupported "not_supported: arguments[0].strides: …" naming the first
/// field that they do not; the table is in task_support.cpp.
Result<void> checkSupported(const Task& task);

} // namespace espalier
