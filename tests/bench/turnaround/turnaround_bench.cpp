// SPDX-License-Identifier: Apache-2.0
// How long one candidate takes from source to a quick verdict: build (no cache) + verify + quick timing, in a warm
// judge. Usage: turnaround_bench [TASK] [DEVICE] [N]; the candidate is the task's first playbook kernel, made new by a
// comment.
#include "core/model/task_loader.h"
#include "core/worker/judge_process.h"
#include "tests/support/judge_drive.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>

using namespace espalier;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void stop(const std::string& why)
{
    fmt::print(stderr, "turnaround_bench: {}\n", why);
    std::exit(1);
}

/// The value, or the end of the program with the sentence of the error.
template <typename T>
T orStop(Result<T> result)
{
    if (!result) {
        stop(result.error().message);
    }
    return std::move(*result);
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv)
{
    auto loaded = loadTask(argc > 1 ? argv[1] : "softmax_f32");
    if (!loaded) {
        stop(loaded.error().message);
    }
    const auto task = std::make_shared<const Task>(std::move(*loaded));
    JudgeSettings settings;
    settings.launcher.worker = findWorker();
    settings.device = argc > 2 ? argv[2] : "auto";
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
    auto judge = startJudge(settings);
    if (!judge) {
        stop(judge.error().message);
    }
    const JudgeHello& hello = (*judge)->hello();
    EvaluationJob job;
    job.task = task;
    job.root = orStop(test::builtFor(hello, task, SourceRole::Candidate, task->root.text));
    job.oracle = orStop(test::builtFor(hello, task, SourceRole::Oracle, task->oracle.source.text));
    job.candidate = job.root;
    job.id = RequestId{1};
    const Evaluation warm = orStop(test::awaitVerdict(**judge, job));
    fmt::print("{} on {}: root {}\n", task->id, hello.deviceName, nameOf(warm.outcome));

    const std::string source = task->playbook.empty() ? task->root.text : task->playbook.front().source.text;
    BuildPoolOptions uncached;
    uncached.useCache = false;
    std::vector<double> builds, verdicts, totals;
    for (int round = 0; round < rounds; ++round) {
        const auto begin = Clock::now();
        job.candidate = orStop(test::builtFor(hello, task, SourceRole::Candidate,
                                              fmt::format("{}\n// round {}\n", source, round), uncached));
        builds.push_back(secondsSince(begin));
        job.id = RequestId{2 + round};
        const Evaluation evaluation = orStop(test::awaitVerdict(**judge, job));
        totals.push_back(secondsSince(begin));
        verdicts.push_back(totals.back() - builds.back());
        fmt::print("  build {:.3f} s, verify + time {:.3f} s (verify {:.3f}, time {:.3f}), total {:.3f} s: {}\n",
                   builds.back(), verdicts.back(), evaluation.verify ? evaluation.verify->seconds : 0,
                   evaluation.timing ? evaluation.timing->seconds : 0, totals.back(), nameOf(evaluation.outcome));
    }
    fmt::print("median of {}: build {:.3f} s, verify + time {:.3f} s, total {:.3f} s\n", rounds, median(builds),
               median(verdicts), median(totals));
    return 0;
}
