// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fakes.h"

#include "core/base/hash.h"
#include "core/propose/tunables.h"
#include "tests/support/fat_binary.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

namespace espalier {
namespace {

std::string markIn(const std::string& source, const std::string& name)
{
    const std::size_t at = source.find(name + "=");
    if (at == std::string::npos) {
        return {};
    }
    const std::size_t begin = at + name.size() + 1;
    return source.substr(begin, source.find_first_of(" \n;", begin) - begin);
}

} // namespace

Signal::Signal() : m_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Signal::set(bool on)
{
    if (on == m_on) {
        return;
    }
    m_on = on;
    eventfd_t value = 1;
    if (on) {
        (void)::eventfd_write(m_fd.get(), value);
    } else {
        (void)::eventfd_read(m_fd.get(), &value);
    }
}

void FakeBuildPool::submit(BuildJob job)
{
    m_jobs.push_back(std::move(job));
    m_signal.set(true);
}

void FakeBuildPool::cancel(RequestId id)
{
    std::erase_if(m_jobs, [id](const BuildJob& job) { return job.id == id; });
    m_signal.set(!m_jobs.empty());
}

std::vector<BuildResult> FakeBuildPool::receive()
{
    std::vector<BuildResult> results;
    if (m_ledger.buildTurns > 0) {
        std::erase_if(m_jobs, [&](const BuildJob& job) {
            const bool done = m_ledger.cache.contains(job.source) || ++m_turns[job.id] >= m_ledger.buildTurns;
            if (done) {
                results.push_back(build(job));
            }
            return done;
        });
        m_signal.set(!m_jobs.empty());
        return results;
    }
    std::size_t count = m_jobs.empty() ? 0 : 1;
    if (m_shuffle && !m_jobs.empty()) {
        std::shuffle(m_jobs.begin(), m_jobs.end(), m_random);
        count = m_random() % (m_jobs.size() + 1);
    }
    for (; count > 0; --count) {
        results.push_back(build(m_jobs.front()));
        m_jobs.pop_front();
    }
    m_signal.set(!m_jobs.empty());
    return results;
}

BuildResult FakeBuildPool::build(const BuildJob& job)
{
    if (const auto cached = m_ledger.cache.find(job.source); cached != m_ledger.cache.end()) {
        BuildResult result = cached->second;
        result.id = job.id;
        result.evaluation.build->cached = true;
        result.evaluation.build->seconds = 0;
        return result;
    }
    BuildResult result{job.id, {}, std::nullopt};
    result.evaluation.stage = Stage::Build;
    const int before = m_ledger.compiled[job.source]++;
    const std::string ours = markIn(job.source, "build_ours");
    const bool gone = m_ledger.compilersGone > 0 && m_ledger.compilersGone--;
    if (gone || (!ours.empty() && before < std::atoi(ours.c_str()))) {
        result.evaluation.cause = NotRunCause::Infrastructure;
        result.evaluation.reason = "nvcc was not found: install the CUDA toolkit 13.";
        return result;
    }
    BuildRecord record;
    record.key = sha256(job.source);
    record.architecture = "sm_" + job.architecture;
    record.toolkit = "13.0.88";
    record.seconds = 1;
    if (job.source.find("build=failed") != std::string::npos) {
        result.evaluation.outcome = Outcome::BuildFailed;
        result.evaluation.reason = "candidate.cu:1: expected a ';'";
    } else {
        result.evaluation.outcome = Outcome::Passed;
        record.libraryHash = sha256(job.source);
        KernelResources kernel;
        kernel.kernel = "main";
        kernel.registers = std::atoi(markIn(job.source, "registers").c_str());
        if (const std::string used = markIn(job.source, "uses"); !used.empty()) {
            kernel.instructions[used] = 1;
        }
        record.kernels.push_back(std::move(kernel));
        // Its code is what "code=" names: two sources may come out as one program.
        const std::string code = markIn(job.source, "code");
        const std::string device =
            code.empty() ? std::string() : fatLibrary({{1, 90, ".entry k {\n" + code + "\n}\n"}});
        const std::string gap(device.empty() ? 0 : (8 - job.source.size() % 8) % 8, '\n'); // where containers stand
        result.library = Library{record.libraryHash, std::make_shared<const std::string>(job.source + gap + device)};
    }
    result.evaluation.build = record;
    m_ledger.cache[job.source] = result;
    return result;
}

void FakeEvaluator::submit(EvaluationJob job)
{
    m_jobs.push_back(std::move(job));
    m_signal.set(true);
}

void FakeEvaluator::cancel(RequestId id)
{
    // As a real judge: the answer to a cancelled job still comes.
    for (std::size_t i = 0; i < m_jobs.size(); ++i) {
        if (m_jobs[i].id == id && i == 0) {
            m_step = -1;
        }
    }
}

std::vector<evaluator::Event> FakeEvaluator::receive()
{
    if (m_jobs.empty()) {
        return {};
    }
    std::vector<evaluator::Event> events{step()};
    m_signal.set(!m_jobs.empty());
    return events;
}

evaluator::Event FakeEvaluator::step()
{
    const EvaluationJob job = m_jobs.front();
    const std::string& source = *job.candidate.bytes;
    const auto finish = [this, &job](Evaluation evaluation) {
        m_jobs.pop_front();
        m_step = 0;
        return evaluator::Finished{job.id, std::move(evaluation)};
    };
    if (m_step == -1) {
        Evaluation cancelled;
        cancelled.cause = NotRunCause::Cancelled;
        cancelled.stage = Stage::Verify;
        return finish(cancelled);
    }
    if (source.find("judge=lost") != std::string::npos && *m_losses > 0 && m_step > 0) {
        --*m_losses;
        m_jobs.clear();
        m_step = 0;
        return evaluator::Lost{{ErrorCode::WorkerLost, "The judge ended with signal 9 (Killed)."}, {job.id}};
    }
    if (job.verified && m_step < 2) {
        m_step = 2;
    }
    const int step = m_step++;
    if (step == 0) {
        return evaluator::Progress{job.id, Stage::Verify, "case 1 of 1"};
    }
    if (step == 1) {
        ++m_ledger.verified[source];
        std::string outcome = markIn(source, "outcome");
        if ((job.tier == Tier::Full || job.sanitizing != Sanitizing::Off) && outcome.empty()) {
            outcome = markIn(source, "found");
        }
        if (!outcome.empty()) {
            Evaluation evaluation;
            evaluation.outcome = outcomeNamed(outcome).value();
            evaluation.cause =
                evaluation.outcome == Outcome::NotRun ? causeNamed(markIn(source, "cause")).value() : NotRunCause::None;
            evaluation.stage = Stage::Verify;
            evaluation.reason = "row 17 of call 3 was never written";
            return finish(evaluation);
        }
        VerifyRecord record;
        record.calls = 3;
        record.seconds = 0.5;
        if (job.verifyOnly) {
            Evaluation evaluation;
            evaluation.outcome = Outcome::Passed;
            evaluation.stage = Stage::Verify;
            evaluation.reason = "verified";
            evaluation.verify = record;
            return finish(evaluation);
        }
        return evaluator::Verified{job.id, record};
    }
    if (step == 2) {
        return evaluator::Progress{job.id, Stage::Time, "block 1 of 30"};
    }
    ++m_ledger.timed[source];
    return finish(timed());
}

Evaluation FakeEvaluator::timed() const
{
    const EvaluationJob& job = m_jobs.front();
    const auto interval = [](double value) { return Interval{value, value * 0.99, value * 1.01}; };
    const std::string inFull = job.tier == Tier::Full ? markIn(*job.candidate.bytes, "again") : std::string();
    const double time = inFull.empty() ? fakeTime(*job.candidate.bytes) : std::strtod(inFull.c_str(), nullptr);
    const auto slow = m_ledger.slowness.find(m_hello.uuid);
    Evaluation evaluation;
    evaluation.outcome = Outcome::Passed;
    evaluation.stage = Stage::Time;
    TimingRecord timing;
    timing.device = m_hello.uuid;
    timing.objectiveUs = interval(slow == m_ledger.slowness.end() ? time : time * slow->second);
    timing.speedupRoot = interval(fakeTime(*job.root.bytes) / time);
    if (job.parent) {
        timing.speedupParent = interval(fakeTime(*job.parent->bytes) / time);
    }
    if (job.incumbent) {
        timing.speedupIncumbent = interval(fakeTime(*job.incumbent->library.bytes) / time);
    }
    CaseTiming timed;
    timed.caseId = "small";
    timed.provenance = m_hello.provenance();
    timed.timeUs = *timing.objectiveUs;
    timed.speedupRoot = timing.speedupRoot;
    timed.goalFloorUs = std::strtod(markIn(*job.root.bytes, "floor").c_str(), nullptr);
    timing.cases.push_back(timed);
    timing.seconds = 1;
    timing.tier = job.tier == Tier::Full ? "full" : "quick";
    evaluation.timing = timing;
    if (job.profiling != Profiling::Off) {
        ProfileRecord& profile = evaluation.profile.emplace();
        profile.level = job.profiling == Profiling::Core ? "core" : "full";
        profile.caseId = timed.caseId;
        profile.provenance = timed.provenance;
        evaluation.metrics = {{"launches", 1, timed.provenance}};
    }
    return evaluation;
}

double fakeTime(const std::string& source)
{
    double time = std::strtod(markIn(source, "time").c_str(), nullptr);
    for (const Tunable& tunable : readMarks(source).tunables) {
        time *= 1 + 0.1 * std::abs(std::log2(static_cast<double>(tunable.current)) - 9);
    }
    return time;
}

JudgeHello fakeHello(const std::string& driver)
{
    JudgeHello hello;
    hello.deviceId = "sim";
    hello.deviceName = "Simulated H200";
    hello.driver = driver;
    hello.architecture = "90a";
    hello.simulated = true;
    hello.runtime = "13.0";
    return hello;
}

Task fakeTask()
{
    Task task;
    task.id = "fake";
    task.title = "A fake";
    task.folder = "/tasks/fake";
    task.entry = "fake";
    task.hash = "hash of fake";
    task.oracle.source = {"oracle.cu", "oracle"};
    task.root = {"root.cu", "root time=100 \n"};
    const std::string tunables = "// espalier: tune BLOCK = 64 128 256 512\n#define BLOCK 128\n"
                                 "// espalier: tune ITEMS = 256 512 1024\n#define ITEMS 1024\n";
    const auto idea = [](std::string id, std::string parent, std::string source) {
        return PlaybookIdea{id, std::move(parent), id, "do " + id, {id + ".cu", std::move(source)}};
    };
    task.playbook = {idea("warp", "", "warp time=200 \n"),
                     idea("vector", "", "vector time=80 \n"),
                     idea("broken", "", "broken build=failed \n"),
                     idea("registers", "vector", "registers time=50 \n" + tunables),
                     idea("cluster", "registers", "cluster outcome=incorrect \n"),
                     idea("shared", "registers", "shared time=45 \n")};
    return task;
}

} // namespace espalier
