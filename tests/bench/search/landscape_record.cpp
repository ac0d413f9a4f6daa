// SPDX-License-Identifier: Apache-2.0
// Measures every playbook kernel of the named tasks at every point of its grid on a device and writes one landscape a
// task. Usage: landscape_record FOLDER DEVICE SECONDS TASK...; what stands in FOLDER already is kept and not measured
// again, so a recording may be made in several parts (LANDSCAPE_POINTS: at most so many now). The kernels themselves
// are verified on all cases, their other points on the timed ones (whose calls are checked as ever). All is built
// before the device begins.
#include "core/base/file.h"
#include "core/build/nvcc_build_pool.h"
#include "core/model/task_loader.h"
#include "core/propose/source_text.h"
#include "core/worker/judge_process.h"
#include "tests/bench/search/landscape.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <poll.h>
#include <thread>

using namespace espalier;
using namespace espalier::bench;

namespace {

constexpr std::size_t mostPoints = 64; ///< of one kernel

[[noreturn]] void stop(const std::string& why)
{
    fmt::print(stderr, "landscape_record: {}\n", why);
    std::exit(1);
}

template <typename T>
T orStop(Result<T> result)
{
    if (!result) {
        stop(result.error().message);
    }
    return std::move(*result);
}

struct Recorded { ///< one task under way
    std::shared_ptr<const Task> task;
    Landscape landscape;
    std::optional<Library> root, oracle;
    std::vector<std::string> timed;
    std::string file;
    void save() const
    {
        if (const auto written = writeFileAtomically(file, landscape.toJson().dump(1) + "\n"); !written) {
            stop(written.error().message);
        }
    }
};

struct Work {
    std::size_t task = 0;
    std::string key;
    TunableValues values;
    std::string source;
    bool whole = false;
    int order = 0; ///< within its task: tasks take turns
};

class Recorder
{
public:
    Recorder(std::filesystem::path folder, const std::string& device, double seconds)
        : m_folder(std::move(folder)),
          m_deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)))
    {
        JudgeSettings settings;
        settings.launcher.worker = findWorker();
        settings.device = device;
        m_judge = orStop(startJudge(settings));
        BuildPoolOptions options;
        options.workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
        m_pool = makeNvccBuildPool(options);
    }

    void add(const std::string& name)
    {
        Recorded recorded;
        recorded.task = std::make_shared<const Task>(orStop(loadTask(name)));
        const Task& task = *recorded.task;
        const JudgeHello& hello = m_judge->hello();
        recorded.file = (m_folder / (task.id + ".json")).string();
        const char* role = hello.simulated ? "simulate" : "time";
        for (const TaskCase& one : task.cases) {
            const bool serves = one.has(hello.simulated ? CaseRole::Simulate : CaseRole::Time) && one.weight > 0;
            if (serves) {
                recorded.timed.push_back(one.id);
            }
        }
        if (recorded.timed.empty()) {
            stop(fmt::format("task {} has no case of role {}", task.id, role));
        }
        recorded.landscape = {task.id,       task.hash, recorded.timed.front(), hello.deviceName, hello.driver,
                              hello.runtime, {}};
        if (const auto text = readFile(recorded.file)) {
            Landscape before = orStop(Landscape::fromJson(orStop(parseJson(*text, recorded.file)), recorded.file));
            recorded.landscape.kernels = std::move(before.kernels);
        }
        const std::size_t index = m_tasks.size();
        int order = 0;
        std::vector<std::pair<std::size_t, Work>> wanted; // first points of all kernels, then second ones, …
        for (const LandscapeKernel& kernel : kernelsOf(task, mostPoints)) {
            auto& entry = recorded.landscape.kernels[kernel.key];
            const std::string identity = sourceIdentity(kernel.source);
            if (entry.identity != identity) {
                entry = {identity, {}};
            }
            for (std::size_t i = 0; i < kernel.points.size(); ++i) {
                if (!recorded.landscape.find(kernel.key, kernel.points[i])) {
                    wanted.push_back({i,
                                      {index, kernel.key, kernel.points[i],
                                       orStop(withTunables(kernel.source, kernel.points[i])), i == 0, 0}});
                }
            }
        }
        std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (auto& [round, work] : wanted) {
            work.order = order++;
            m_work.push_back(std::move(work));
        }
        m_tasks.push_back(std::move(recorded));
    }

    void run()
    {
        std::stable_sort(m_work.begin(), m_work.end(), [](const Work& a, const Work& b) { return a.order < b.order; });
        if (const char* most = std::getenv("LANDSCAPE_POINTS")) {
            m_work.resize(std::min<std::size_t>(m_work.size(), std::strtoul(most, nullptr, 10)));
        }
        for (std::size_t i = 0; i < m_tasks.size(); ++i) {
            submit(static_cast<std::int64_t>(2 * i), m_tasks[i].task, SourceRole::Candidate,
                   m_tasks[i].task->root.text);
            submit(static_cast<std::int64_t>(2 * i + 1), m_tasks[i].task, SourceRole::Oracle,
                   m_tasks[i].task->oracle.source.text);
        }
        m_firstWork = static_cast<std::int64_t>(2 * m_tasks.size());
        for (std::size_t i = 0; i < m_work.size(); ++i) {
            submit(m_firstWork + static_cast<std::int64_t>(i), m_tasks[m_work[i].task].task, SourceRole::Candidate,
                   m_work[i].source);
        }
        std::size_t left = m_work.size();
        while (left > 0 && Clock::now() < m_deadline) {
            pollfd polled[] = {{m_pool->descriptor(), POLLIN, 0}, {m_judge->descriptor(), POLLIN, 0}};
            ::poll(polled, 2, 100);
            for (BuildResult& result : m_pool->receive()) {
                left -= built(std::move(result));
            }
            left -= judged();
            if (!m_running && m_pool->busy() == 0) { // a busy compiler disturbs the judge's clock
                judgeNext();
            }
        }
        std::size_t points = 0;
        for (const Recorded& task : m_tasks) {
            task.save();
            points += task.landscape.points();
        }
        fmt::print("{} points recorded, {} left\n", points, left);
    }

private:
    using Clock = std::chrono::steady_clock;

    void submit(std::int64_t id, std::shared_ptr<const Task> task, SourceRole role, const std::string& source)
    {
        m_pool->submit({RequestId{id + 1}, std::move(task), role, source, {}, m_judge->hello().architecture});
    }

    /// How many pieces of work ended.
    std::size_t built(BuildResult result)
    {
        const std::int64_t id = result.id.value - 1;
        if (id < m_firstWork) {
            if (!result.library) {
                stop(fmt::format("oracle or root of {} does not build: {}",
                                 m_tasks[static_cast<std::size_t>(id / 2)].task->id, result.evaluation.reason));
            }
            (id % 2 ? m_tasks[static_cast<std::size_t>(id / 2)].oracle
                    : m_tasks[static_cast<std::size_t>(id / 2)].root) = result.library;
            return 0;
        }
        const std::size_t index = static_cast<std::size_t>(id - m_firstWork);
        if (!result.library) {
            record(m_work[index], result.evaluation, result.evaluation);
            return 1;
        }
        m_built.emplace(index, std::move(result));
        return 0;
    }

    void judgeNext()
    {
        for (auto next = m_built.begin(); next != m_built.end(); ++next) {
            const Work& work = m_work[next->first];
            const Recorded& task = m_tasks[work.task];
            if (!task.root || !task.oracle) {
                continue;
            }
            EvaluationJob job;
            job.id = RequestId{static_cast<std::int64_t>(next->first) + 1};
            job.task = task.task;
            job.candidate = *next->second.library;
            job.root = *task.root;
            job.oracle = *task.oracle;
            if (!work.whole) {
                job.caseIds = task.timed;
            }
            m_judge->submit(std::move(job));
            m_running = next->first;
            return;
        }
    }

    std::size_t judged()
    {
        std::size_t ended = 0;
        for (evaluator::Event& event : m_judge->receive()) {
            if (auto* finished = std::get_if<evaluator::Finished>(&event)) {
                const std::size_t index = static_cast<std::size_t>(finished->id.value - 1);
                if (finished->evaluation.outcome == Outcome::NotRun &&
                    finished->evaluation.cause == NotRunCause::Infrastructure) {
                    fmt::print("{}: {}\n", m_work[index].key,
                               finished->evaluation.reason); // no verdict: left for another part
                } else {
                    record(m_work[index], finished->evaluation, m_built.at(index).evaluation);
                }
                m_built.erase(index);
                m_running.reset();
                ++ended;
            } else if (const auto* lost = std::get_if<evaluator::Lost>(&event)) {
                fmt::print(stderr, "landscape_record: {}\n", lost->error.message);
                m_running.reset();
            }
        }
        return ended;
    }

    void record(const Work& work, const Evaluation& evaluation, const Evaluation& built)
    {
        LandscapePoint point;
        point.values = work.values;
        point.outcome = evaluation.outcome;
        if (evaluation.outcome == Outcome::Passed && evaluation.timing && evaluation.timing->objectiveUs) {
            point.us = evaluation.timing->objectiveUs->value;
            point.speedup = work.key == "root"               ? 1
                            : evaluation.timing->speedupRoot ? evaluation.timing->speedupRoot->value
                                                             : 0;
        }
        point.build = built.build.value_or(BuildRecord{});
        Recorded& task = m_tasks[work.task];
        task.landscape.kernels[work.key].points.push_back(point);
        std::string values;
        for (const auto& [name, value] : work.values) {
            values += fmt::format(" {}={}", name, value);
        }
        fmt::print("{} {}{}: {} {:.2f} us {:.3f}x {}\n", task.task->id, work.key, values, nameOf(point.outcome),
                   point.us, point.speedup, evaluation.outcome == Outcome::Passed ? "" : evaluation.reason);
        std::fflush(stdout);
        if (++m_recorded % 10 == 0) {
            task.save();
        }
    }

    std::filesystem::path m_folder;
    Clock::time_point m_deadline;
    std::unique_ptr<Evaluator> m_judge;
    std::unique_ptr<BuildPool> m_pool;
    std::vector<Recorded> m_tasks;
    std::vector<Work> m_work;
    std::map<std::size_t, BuildResult> m_built;
    std::optional<std::size_t> m_running;
    std::int64_t m_firstWork = 0;
    int m_recorded = 0;
};

} // namespace

int main(int argc, char** argv)
{
    if (argc < 5) {
        stop("usage: landscape_record FOLDER DEVICE SECONDS TASK...");
    }
    Recorder recorder(argv[1], argv[2], std::strtod(argv[3], nullptr));
    for (int i = 4; i < argc; ++i) {
        recorder.add(argv[i]);
    }
    recorder.run();
    return 0;
}
