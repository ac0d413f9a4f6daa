// SPDX-License-Identifier: Apache-2.0
#include "core/model/task_loader.h"

#include "core/base/file.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t largestSource = std::size_t{16} << 20;
constexpr std::size_t largestTensor = std::size_t{4} << 30;

/// A link inside the folder may point out of it: what a task can read is decided after links are resolved.
bool isWithin(const fs::path& path, const fs::path& folder)
{
    const auto mismatch = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return mismatch.first == folder.end();
}

TaskFiles filesOf(const fs::path& folder)
{
    return [folder](std::string_view path) -> Result<std::string> {
        std::error_code error;
        const fs::path full = folder / path;
        if (!fs::exists(full, error)) {
            return fail(ErrorCode::NotFound, fmt::format("the file {} is missing", full.string()));
        }
        if (!isWithin(fs::canonical(full, error), fs::canonical(folder, error)) || error) {
            return fail(ErrorCode::InvalidInput,
                        fmt::format("{} is a link that leaves the task's folder", full.string()));
        }
        if (!fs::is_regular_file(full, error)) {
            return fail(ErrorCode::InvalidInput, fmt::format("{} is no file", full.string()));
        }
        return readFile(full, full.extension() == ".npy" ? largestTensor : largestSource);
    };
}

Result<Task> loadFolder(const fs::path& folder)
{
    const fs::path json = folder / "task.json";
    ESPALIER_TRY(const std::string text, readFile(json, largestSource));
    ESPALIER_TRY(Task task, parseTask(text, filesOf(folder), folder));
    ESPALIER_CHECK(checkIncludeFolders(task));
    return task;
}

bool holdsTask(const fs::path& folder)
{
    std::error_code error;
    return fs::is_regular_file(folder / "task.json", error);
}

} // namespace

fs::path builtInTasksFolder()
{
    if (const char* stated = std::getenv("ESPALIER_TASKS"); stated && *stated) {
        return stated;
    }
    std::error_code error;
    const fs::path installed = executableFolder().parent_path() / "share/espalier/tasks";
    return fs::is_directory(installed, error) ? installed : fs::path(ESPALIER_SOURCE_TASKS);
}

Result<void> checkIncludeFolders(const Task& task)
{
    for (std::size_t i = 0; i < task.build.includeRoots.size(); ++i) {
        std::error_code error;
        if (!fs::is_directory(task.build.includeRoots[i], error)) {
            return fail(ErrorCode::NotFound,
                        fmt::format("{}: build.include[{}]: the folder {} does not exist",
                                    (fs::path(task.folder) / "task.json").string(), i, task.build.includeRoots[i]));
        }
    }
    return {};
}

std::vector<std::string> listTasks()
{
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(builtInTasksFolder(), error), end; !error && entry != end;
         entry.increment(error)) {
        if (holdsTask(entry->path())) {
            names.push_back(entry->path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

Result<Task> loadTask(std::string_view nameOrFolder)
{
    if (nameOrFolder.empty()) {
        return fail(ErrorCode::InvalidInput, "the task has no name; give a built-in task's name or a folder");
    }
    if (nameOrFolder.find('/') == std::string_view::npos && nameOrFolder != "." && nameOrFolder != "..") {
        const fs::path builtIn = builtInTasksFolder() / nameOrFolder;
        if (holdsTask(builtIn)) {
            ESPALIER_TRY(Task task, loadFolder(builtIn));
            if (task.id != nameOrFolder) {
                return fail(ErrorCode::InvalidInput,
                            fmt::format("{}: id: expected the folder's name {}; found {}",
                                        (builtIn / "task.json").string(), nameOrFolder, task.id));
            }
            return task;
        }
    }
    fs::path folder(nameOrFolder);
    if (folder.filename() == "task.json") {
        folder = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
    }
    if (!holdsTask(folder)) {
        const std::vector<std::string> names = listTasks();
        return fail(ErrorCode::NotFound,
                    fmt::format("{} is neither a built-in task ({}) nor a folder that holds a task.json", nameOrFolder,
                                names.empty() ? fmt::format("none in {}", builtInTasksFolder().string())
                                              : fmt::format("{}", fmt::join(names, ", "))));
    }
    return loadFolder(folder);
}

} // namespace espalier
