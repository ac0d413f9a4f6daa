// SPDX-License-Identifier: Apache-2.0
#include "core/export/task_folder.h"

#include "core/base/file.h"
#include "core/base/json.h"

#include <filesystem>
#include <optional>

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostHeaderBytes = std::size_t{16} << 20;

/// The files below `root`, by their paths in the task's folder; nullopt: there are none, or too many bytes of them.
Result<std::optional<std::map<std::string, std::string>>> headersIn(const fs::path& root, const fs::path& inside)
{
    std::map<std::string, std::string> headers;
    std::size_t bytes = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
        if (!entry->is_regular_file(error)) {
            continue;
        }
        bytes += entry->file_size(error);
        if (bytes > mostHeaderBytes) {
            return std::nullopt;
        }
        ESPALIER_TRY(std::string text, readFile(entry->path()));
        headers.emplace((inside / entry->path().lexically_relative(root)).lexically_normal().generic_string(),
                        std::move(text));
    }
    return headers.empty() ? std::nullopt : std::optional(std::move(headers));
}

Result<void> addHeaders(const Task& task, Json& json, TaskFolder& folder)
{
    for (std::size_t i = 0; i < task.build.includeRoots.size(); ++i) {
        const std::string& root = task.build.includeRoots[i]; // where the headers lie now
        Json& written = json["build"]["include"][i];
        const fs::path inside = fs::path(written.get<std::string>()).lexically_normal();
        std::optional<std::map<std::string, std::string>> headers;
        if (inside.is_relative() && *inside.begin() != "..") {
            ESPALIER_TRY(headers, headersIn(root, inside));
        }
        folder.includeRoots.push_back(headers ? inside.generic_string() : root);
        if (headers) {
            folder.files.merge(*headers);
        } else {
            written = root;
        }
    }
    return {};
}

} // namespace

Result<TaskFolder> taskFolderOf(const Task& task)
{
    TaskFolder folder;
    Json json = Json::object(); // a task that was never a file has no text
    if (!task.json.empty()) {
        ESPALIER_TRY(json, parseJson(task.json, "task.json"));
    }
    const auto add = [&files = folder.files](const SourceFile& file) {
        if (!file.name.empty()) {
            files.emplace(file.name, file.text);
        }
    };
    add(task.oracle.source);
    add(task.root);
    if (task.incumbent) {
        add(*task.incumbent);
    }
    for (const Baseline& baseline : task.baselines) {
        add(baseline.source);
    }
    if (json.contains("playbook") && json["playbook"].is_string()) {
        folder.files.emplace(json["playbook"].get<std::string>(), "{\"schema\": 1, \"ideas\": []}\n");
    }
    const Json before = json;
    ESPALIER_CHECK(addHeaders(task, json, folder));
    folder.files.insert_or_assign("task.json", json == before ? task.json : json.dump(2) + "\n");
    return folder;
}

} // namespace espalier
