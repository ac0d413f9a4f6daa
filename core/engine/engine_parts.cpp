// SPDX-License-Identifier: Apache-2.0
#include "core/engine/engine_parts.h"

#include "core/base/file.h"
#include "core/base/user.h"
#include "core/build/nvcc_build_pool.h"
#include "core/model/task_loader.h"
#include "core/propose/prompt/lesson_book.h"
#include "core/propose/proposers.h"
#include "core/search/session_journal.h"
#include "core/worker/evaluator_group.h"
#include "core/worker/judge_process.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace espalier {

EngineParts realParts(const EngineOptions& options)
{
    EngineParts parts;
    parts.profiling = options.profiling;
    parts.builders =
        options.builders > 0 ? options.builders : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (std::string name = userName(); !name.empty()) {
        parts.author = std::move(name);
    }
    parts.loadTask = [](std::string_view nameOrFolder) -> Result<Task> {
        ESPALIER_TRY(Task task, loadTask(nameOrFolder));
        ESPALIER_CHECK(checkSupported(task));
        return task;
    };
    parts.makeBuildPool = [builders = parts.builders] {
        BuildPoolOptions pool;
        pool.workers = builders;
        return makeNvccBuildPool(std::move(pool));
    };
    parts.startJudge = [launcher = options.launcher](const std::string& text) -> Result<std::unique_ptr<Evaluator>> {
        JudgeSettings settings;
        settings.launcher.prefix = launcher;
        // A launcher's machine has its own installation: the name is looked up there.
        if (launcher.empty()) {
            settings.launcher.worker = findWorker();
        }
        std::vector<std::unique_ptr<Evaluator>> judges;
        for (const std::string& device : devicesNamed(text)) {
            settings.device = device;
            ESPALIER_TRY(auto judge, startJudge(settings));
            judges.push_back(std::move(judge));
        }
        return judges.size() == 1 ? std::move(judges.front()) : EvaluatorGroup::of(std::move(judges));
    };
    parts.makeProposers = [](const ProposerChoice& choice) { return makeProposers(choice); };
    parts.lessons = [] { return readFile(dataFolder() / "lessons.md", std::size_t{64} << 10).value_or(""); };
    if (options.lessons) {
        parts.keepLessons = [](const std::vector<std::string>& lessons, const std::string& task,
                               const std::string& device) {
            const std::string day = timestamp().substr(0, 10);
            return keepLessons(dataFolder() / "lessons.md", lessons, {task, device, day});
        };
    }
    parts.listings = realListingSource();
    parts.listen = [](const std::filesystem::path& session) { return CommandSocket::listen(session); };
    parts.toolkit = [] {
        const auto toolkit = findToolkit();
        return toolkit ? toolkit->version : std::string();
    };
    parts.compiler = [] {
        const auto toolkit = findToolkit();
        return toolkit ? toolkit->nvcc.string() : std::string();
    };
    parts.seconds = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    return parts;
}

} // namespace espalier
