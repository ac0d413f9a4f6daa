// SPDX-License-Identifier: Apache-2.0
#include "core/export/task_folder.h"

#include "core/base/json.h"

namespace espalier {

std::map<std::string, std::string> taskFolderOf(const Task& task)
{
    std::map<std::string, std::string> files = {{"task.json", task.json}};
    const auto add = [&files](const SourceFile& file) {
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
    const auto json = parseJson(task.json, "task.json");
    if (json && json->is_object() && json->contains("playbook") && (*json)["playbook"].is_string()) {
        files.emplace((*json)["playbook"].get<std::string>(), "{\"schema\": 1, \"ideas\": []}\n");
    }
    return files;
}

} // namespace espalier
