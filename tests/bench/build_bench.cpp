// SPDX-License-Identifier: Apache-2.0
// How many variants of one kernel are built in a second on all cores: whole, and their device part alone.
// Usage: build_bench [VARIANTS [WORKERS]]. Every variant has another value of a constant that no launch uses.
#include "core/base/file.h"
#include "core/build/nvcc_build_pool.h"
#include "core/model/task_loader.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <poll.h>
#include <thread>

using namespace espalier;

namespace {

struct Round {
    double seconds = 0;
    int passed = 0, deviceOnly = 0;
};

Round build(BuildPool& pool, const std::shared_ptr<const Task>& task, const std::string& source, int first, int count)
{
    const std::string mark = "#define HELD ";
    const std::size_t at = source.find(mark) + mark.size();
    const std::size_t end = source.find('\n', at);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
        std::string variant = source;
        variant.replace(at, end - at, std::to_string(first + i));
        pool.submit({RequestId{first + i}, task, SourceRole::Candidate, std::move(variant), {}, "90a"});
    }
    Round round;
    for (int left = count; left > 0;) {
        pollfd polled = {pool.descriptor(), POLLIN, 0};
        ::poll(&polled, 1, -1);
        for (const BuildResult& result : pool.receive()) {
            --left;
            round.passed += result.library ? 1 : 0;
            round.deviceOnly += result.evaluation.build && result.evaluation.build->deviceOnly ? 1 : 0;
            if (!result.library) {
                fmt::print("{}\n", result.evaluation.reason);
            }
        }
    }
    round.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return round;
}

} // namespace

int main(int argc, char** argv)
{
    const int variants = argc > 1 ? std::atoi(argv[1]) : 32;
    const auto task = loadTask("softmax_f32");
    const auto cache = ScratchFolder::create("build-bench");
    if (!task || !cache) {
        fmt::print(stderr, "build_bench: {}\n", task ? cache.error().message : task.error().message);
        return 1;
    }
    std::string source;
    for (const PlaybookIdea& idea : task->playbook) {
        source = idea.id == "row-registers" || idea.source.name.find("row_registers.cu") != std::string::npos
                     ? idea.source.text
                     : source;
    }
    if (source.find("#define HELD ") == std::string::npos) {
        fmt::print(stderr, "build_bench: the playbook of softmax_f32 has no kernel with a constant HELD any more\n");
        return 1;
    }
    const auto shared = std::make_shared<const Task>(*task);
    fmt::print("| what | variants | workers | seconds | a second | device part alone |\n| --- | --- | --- | --- | --- "
               "| --- |\n");
    for (const bool reuse : {false, true}) {
        BuildPoolOptions options;
        options.cache = cache->path() / (reuse ? "parts" : "whole");
        options.workers = argc > 2 ? std::atoi(argv[2]) : static_cast<int>(std::thread::hardware_concurrency());
        options.reuseHost = reuse;
        const auto pool = makeNvccBuildPool(options);
        (void)build(*pool, shared, source, 1, 1); // the parent of them all
        const Round round = build(*pool, shared, source, 2, variants);
        fmt::print("| {} | {} | {} | {:.2f} | {:.1f} | {} |\n", reuse ? "host part built before" : "whole",
                   round.passed, options.workers, round.seconds, round.passed / round.seconds, round.deviceOnly);
    }
    return 0;
}
