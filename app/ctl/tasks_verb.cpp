// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/verbs.h"
#include "core/model/task_loader.h"

#include <fmt/format.h>

namespace espalier::ctl {

namespace {

Json describe(const std::string& name)
{
    const auto task = loadTask(name);
    if (!task) {
        return {{"id", name}, {"error", task.error().message}};
    }
    Json cases = Json::array();
    for (const TaskCase& one : task->cases) {
        cases.push_back(one.id);
    }
    return {{"id", task->id},
            {"title", task->title},
            {"folder", task->folder},
            {"entry", task->entry},
            {"cases", cases},
            {"playbook", task->playbook.size()},
            {"baselines", task->baselines.size()}};
}

} // namespace

int tasks(bool json)
{
    Json list = Json::array();
    for (const std::string& name : listTasks()) {
        list.push_back(describe(name));
    }
    if (json) {
        printJson({{"folder", builtInTasksFolder().string()}, {"tasks", list}});
        return exitOk;
    }
    for (const Json& task : list) {
        if (task.contains("error")) {
            print(fmt::format("{:<16} cannot be loaded: {}", task["id"].get<std::string>(),
                              task["error"].get<std::string>()));
        } else {
            print(fmt::format("{:<16} {} ({} cases, {} playbook ideas)", task["id"].get<std::string>(),
                              task["title"].get<std::string>(), task["cases"].size(), task["playbook"].get<int>()));
        }
    }
    if (list.empty()) {
        note(fmt::format("no built-in tasks in {}; set ESPALIER_TASKS, or name a task folder",
                         builtInTasksFolder().string()));
    }
    return exitOk;
}

} // namespace espalier::ctl
