// SPDX-License-Identifier: Apache-2.0
// fault_campaign: a judge with real runners while something of ours or of the machine breaks, at every stage of an
// evaluation. Two rules hold for every row: an honest candidate is never rejected and a wrong one never passes because
// of the fault (not_run, or the loss of the judge, says nothing about either), and afterwards the same judge, or the
// one that replaces it, gives both their right verdicts. Prints a table: fault, stage, what came of it; the exit code
// is the number of rows that break a rule.
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/worker/judge_process.h"
#include "tests/judge/full_disk.h"
#include "tests/judge/process_tree.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace espalier::test {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void stop(const std::string& why)
{
    fmt::print(stderr, "fault_campaign: {}\n", why);
    std::exit(126);
}

Library libraryFrom(const std::string& name)
{
    auto bytes = readFile(std::string(CANDIDATES) + "/" + name + ".so");
    if (!bytes) {
        stop(bytes.error().message);
    }
    auto shared = std::make_shared<const std::string>(std::move(*bytes));
    return {sha256(*shared), shared};
}

/// Where in an evaluation the fault comes.
enum class When { Submitted, FirstCase, SecondCase, Verified, Timing };

std::string_view nameOf(When when)
{
    switch (when) {
    case When::Submitted:
        return "submitted";
    case When::FirstCase:
        return "gate, first case";
    case When::SecondCase:
        return "gate, second case";
    case When::Verified:
        return "verified";
    case When::Timing:
        return "timing";
    }
    return "";
}

/// One judge and what it is asked. `lost` counts the judges that ended.
class Bench
{
public:
    Bench(std::string device, const std::vector<std::string>& options) : m_device(std::move(device))
    {
        m_settings.launcher.worker = WORKER;
        m_settings.device = m_device;
        m_settings.launcher.judgeOptions = options;
        m_settings.lossWindow = std::chrono::seconds(0); // the campaign loses many
        if (m_device != "sim") {
            m_settings.launcher.judgeOptions.insert(m_settings.launcher.judgeOptions.end(), {"--runtime", FAKE_CUDART});
        }
    }

    Result<void> start()
    {
        ESPALIER_TRY(m_judge, startJudge(m_settings));
        return {};
    }

    /// Evaluates; `at` is called once for every stage that is reached.
    Evaluation evaluate(const std::string& kind, const std::function<void(When)>& at = {},
                        Sanitizing sanitizing = Sanitizing::Off)
    {
        const std::string prefix = m_device == "sim" ? "sim_" : "host_";
        EvaluationJob job;
        job.id = RequestId{m_nextId++};
        auto task = std::make_shared<Task>();
        task->json = readFile(TASK_FILE).value_or("");
        job.task = task;
        job.candidate = libraryFrom(prefix + kind);
        // A root of its own: without an honest rival on the same buffers a busy machine explains no residual.
        job.root = libraryFrom(prefix + (m_device == "sim" ? "honest" : "slow"));
        job.oracle = libraryFrom(m_device == "sim" ? "sim_honest" : "host_oracle");
        job.verifyOnly = m_device != "sim" && !at; // times of the stand-in driver mean nothing
        job.sanitizing = sanitizing;
        const RequestId id = job.id;
        m_judge->submit(std::move(job));
        const auto reached = [&](When when) {
            if (at) {
                at(when);
            }
        };
        reached(When::Submitted);
        int cases = 0;
        const auto end = Clock::now() + std::chrono::seconds(120);
        while (Clock::now() < end) {
            pollfd polled = {m_judge->descriptor(), POLLIN, 0};
            ::poll(&polled, 1, 50);
            for (evaluator::Event& event : m_judge->receive()) {
                if (auto* finished = std::get_if<evaluator::Finished>(&event); finished && finished->id == id) {
                    return std::move(finished->evaluation);
                }
                if (const auto* gone = std::get_if<evaluator::Lost>(&event)) {
                    Evaluation evaluation;
                    evaluation.cause = NotRunCause::Infrastructure;
                    evaluation.reason = "judge lost: " + gone->error.message;
                    return evaluation;
                }
                if (std::holds_alternative<evaluator::Verified>(event)) {
                    reached(When::Verified);
                } else if (const auto* progress = std::get_if<evaluator::Progress>(&event)) {
                    if (progress->stage == Stage::Time) {
                        reached(When::Timing);
                    } else if (progress->text.starts_with("case ")) {
                        reached(++cases == 1 ? When::FirstCase : When::SecondCase);
                    }
                }
            }
        }
        Evaluation evaluation;
        evaluation.outcome = Outcome::TimedOut;
        evaluation.reason = "the evaluation did not end within 120 s";
        return evaluation;
    }

    /// Empty when both kernels get their right verdict again. What broke may be noticed only now, and then costs this
    /// evaluation; one that says nothing is asked again, as a search does, but not for ever.
    std::string afterwards()
    {
        for (const auto& [kind, right] :
             {std::pair("honest", Outcome::Passed), std::pair("zero", Outcome::Incorrect)}) {
            Evaluation evaluation;
            for (int tries = 0; tries < 3; ++tries) {
                evaluation = evaluate(kind);
                if (evaluation.outcome != Outcome::NotRun) {
                    break;
                }
            }
            if (evaluation.outcome != right) {
                return fmt::format("afterwards {}: {} ({})", kind, espalier::nameOf(evaluation.outcome),
                                   evaluation.reason);
            }
        }
        return {};
    }

private:
    std::string m_device;
    JudgeSettings m_settings;
    std::unique_ptr<Evaluator> m_judge;
    std::int64_t m_nextId = 1;
};

class Campaign
{
public:
    int broken() const { return m_broken; }

    void line(const std::string& device, const std::string& fault, const std::string& stage, const std::string& kind,
              const Evaluation& evaluation, const std::string& after)
    {
        const bool right = evaluation.outcome == Outcome::NotRun ||
                           evaluation.outcome == (kind == "honest" ? Outcome::Passed : Outcome::Incorrect);
        const bool held = right && after.empty();
        m_broken += held ? 0 : 1;
        fmt::print("{:<7} {:<44} {:<18} {:<7} {:<10} {:<6} {}\n", device, fault, stage, kind,
                   espalier::nameOf(evaluation.outcome), held ? "holds" : "BROKEN",
                   after.empty() ? printable(evaluation.reason, 150) : after);
        std::fflush(stdout);
    }

    /// kill -9 of a process of ours whose command line has `part`, once, when the stage is reached.
    void kills(const std::string& device, const std::string& part)
    {
        Bench bench(device, {});
        if (auto started = bench.start(); !started) {
            stop(started.error().message);
        }
        for (const When when : {When::Submitted, When::FirstCase, When::SecondCase, When::Verified, When::Timing}) {
            for (const char* kind : {"honest", "zero"}) {
                int killed = 0;
                const Evaluation evaluation = bench.evaluate(kind, [&](When reached) {
                    if (reached == when && killed == 0) {
                        killed = killAll(part);
                    }
                });
                if (killed == 0) { // a wrong candidate does not come as far as its timing
                    continue;
                }
                line(device, "kill -9 " + part, std::string(nameOf(when)), kind, evaluation, bench.afterwards());
            }
        }
    }

    /// The driver of the judge (and of its trusted runners) fails in one call, late enough that the judge has started.
    void driverErrors()
    {
        for (const auto& [function, code] :
             {std::pair("cuLaunchKernel", 719), std::pair("cuLaunchKernel", 1), std::pair("cuMemcpyDtoH", 700),
              std::pair("cuMemCreate", 2), std::pair("cuMemExportToShareableHandle", 999),
              std::pair("cuMemGetInfo", 999)}) {
            for (const int call : {2, 5, 11, 40}) {
                for (const char* kind : {"honest", "zero"}) {
                    ::setenv("ESPALIER_FAKE_FAULT", fmt::format("{} {} {}", function, call, code).c_str(), 1);
                    Bench bench("cuda:0", {});
                    const auto started = bench.start();
                    ::unsetenv("ESPALIER_FAKE_FAULT"); // a judge that replaces this one finds a sound driver
                    const std::string fault = fmt::format("{} returns {}", function, code);
                    const std::string stage = fmt::format("call {}", call);
                    if (!started) {
                        refused("fake", fault, stage, started.error());
                        continue;
                    }
                    const Evaluation evaluation = bench.evaluate(kind);
                    line("fake", fault, stage, kind, evaluation, bench.afterwards());
                }
            }
        }
    }

    /// What keeps a judge from starting: it must say so in one sentence, and start once the cause is gone.
    void refused(const std::string& device, const std::string& fault, const std::string& stage, const Error& error)
    {
        const bool oneSentence = !error.message.empty() && error.message.find('\n') == std::string::npos;
        m_broken += oneSentence ? 0 : 1;
        fmt::print("{:<7} {:<44} {:<18} {:<7} {:<10} {:<6} {}\n", device, fault, stage, "-", "no judge",
                   oneSentence ? "holds" : "BROKEN", printable(error.message, 150));
    }

    void takenDevice()
    {
        // 46: CUDA_ERROR_DEVICE_UNAVAILABLE, what a device in exclusive mode says while another process holds it.
        ::setenv("ESPALIER_FAKE_FAULT", "cuDevicePrimaryCtxRetain 1 46", 1);
        Bench bench("cuda:0", {});
        const auto started = bench.start();
        ::unsetenv("ESPALIER_FAKE_FAULT");
        if (started) {
            fmt::print("a judge started on a device that another process holds\n");
            ++m_broken;
            return;
        }
        refused("fake", "another process holds the device", "start", started.error());
        Bench next("cuda:0", {});
        const std::string after = next.start() ? next.afterwards() : "no judge starts once the device is free";
        if (!after.empty()) {
            ++m_broken;
            fmt::print("{}\n", after);
        }
    }

    void littleMemory()
    {
        for (const auto& [bytes, what] :
             {std::pair(0L, "no"), std::pair(4L << 20, "4 MiB of"), std::pair(16L << 20, "16 MiB of")}) {
            ::setenv("ESPALIER_FAKE_DEVICE_BYTES", std::to_string(bytes).c_str(), 1);
            const std::string fault = fmt::format("{} device memory", what);
            Bench bench("cuda:0", {});
            if (const auto started = bench.start(); !started) {
                refused("fake", fault, "start", started.error());
            } else {
                for (const char* kind : {"honest", "zero"}) {
                    line("fake", fault, "evaluation", kind, bench.evaluate(kind), "");
                }
            }
            ::unsetenv("ESPALIER_FAKE_DEVICE_BYTES");
        }
    }

    /// Device memory that ends while a candidate is judged: its own call is refused some, or what its runner needs.
    void memoryOfARunner()
    {
        Bench bench("cuda:0", {});
        if (auto started = bench.start(); !started) {
            stop(started.error().message);
        }
        for (const char* kind : {"no_memory", "eats_memory"}) {
            const Evaluation evaluation = bench.evaluate(kind);
            Evaluation judged = evaluation;
            if (evaluation.outcome == Outcome::NotRun && evaluation.cause != NotRunCause::Infrastructure) {
                judged.outcome = Outcome::RuntimeFailed; // blamed all the same
            }
            line("fake", "no device memory for a call", "evaluation", kind, judged, bench.afterwards());
        }
    }

    /// No place to write to but a file system without a free byte. Judge, runners and simgpu keep what they need in
    /// memory, so that nothing changes; what compute-sanitizer reads is a file. What engine and compiler write has
    /// tests of its own.
    void fullDisk(const std::filesystem::path& folder)
    {
        const auto program = folder / "clean";
        std::filesystem::copy_file(FAKE_SANITIZER, program);
        ::setenv("ESPALIER_SANITIZER", program.c_str(), 1);
        const auto disk = folder / "disk";
        std::filesystem::create_directory(disk);
        if (!mountFullDisk(disk)) {
            fmt::print("full disk: not tried, the kernel gives no mount name space\n");
            return;
        }
        for (const char* name : {"TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}) {
            ::setenv(name, disk.c_str(), 1);
        }
        for (const char* device : {"sim", "cuda:0"}) {
            Bench bench(device, {});
            if (const auto started = bench.start(); !started) {
                refused(device, "full disk", "start", started.error());
                continue;
            }
            for (const char* kind : {"honest", "zero"}) {
                line(device, "full disk", "evaluation", kind, bench.evaluate(kind), bench.afterwards());
            }
            if (std::string_view(device) != "sim") {
                const Evaluation evaluation = bench.evaluate("honest", {}, Sanitizing::Required);
                const bool said = evaluation.outcome == Outcome::NotRun &&
                                  evaluation.cause == NotRunCause::Infrastructure &&
                                  evaluation.reason.find("the disk is full") != std::string::npos;
                line(device, "full disk", "sanitizer", "honest", evaluation,
                     said ? bench.afterwards() : "a full disk is not said: " + evaluation.reason);
            }
        }
        unmountFullDisk(disk);
    }

private:
    static int killAll(const std::string& part)
    {
        int killed = 0;
        for (const int pid : descendantsOf(::getpid())) {
            const std::string command = commandLineOf(pid);
            if (command.starts_with("bwrap") || command.find(part) == std::string::npos) {
                continue; // a sandbox dies with what it holds
            }
            killed += ::kill(pid, SIGKILL) == 0 ? 1 : 0;
        }
        return killed;
    }

    int m_broken = 0;
};

} // namespace
} // namespace espalier::test

int main()
{
    using namespace espalier::test;
    ::setenv("ESPALIER_LIBCUDA", FAKE_LIBCUDA, 1);
    fmt::print("{:<7} {:<44} {:<18} {:<7} {:<10} {:<6} {}\n", "device", "fault", "stage", "kernel", "outcome", "rules",
               "reason");
    Campaign campaign;
    for (const char* device : {"sim", "cuda:0"}) {
        campaign.kills(device, "espalier-worker runner");
        campaign.kills(device, "espalier-worker judge");
    }
    campaign.kills("sim", "espalier-worker simgpu");
    campaign.driverErrors();
    campaign.takenDevice();
    campaign.littleMemory();
    campaign.memoryOfARunner();
    auto folder = espalier::ScratchFolder::create("fault-campaign");
    if (!folder) {
        stop(folder.error().message);
    }
    campaign.fullDisk(folder->path()); // the last: its name space and environment stay
    fmt::print("{} rows break a rule\n", campaign.broken());
    return std::min(campaign.broken(), 125);
}
