// SPDX-License-Identifier: Apache-2.0
#include "core/judge/evaluation_run.h"

#include "core/analysis/statistics.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/judge/device_roofs.h"
#include "core/judge/metric_values.h"
#include "core/judge/profiler.h"
#include "core/judge/repeat_check.h"
#include "core/judge/sanitizer.h"
#include "core/judge/unseen_cases.h"
#include "core/model/task_loader.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <random>

namespace espalier::judge {

namespace {

constexpr double coarseBelowUs = 30; ///< core/README.md, rule 4

/// Seconds from hand-over within which a tier's blocks must have ended, and what one case gets of them. Server mode
/// waits for calls to arrive: it takes what it takes.
struct TimeFrame {
    double whole, least, most;
};
constexpr TimeFrame quickFrame{0.85, 0.10, 0.40}, fullFrame{4.7, 0.5, 4.0}, quickServerFrame{20, 2, 5},
    fullServerFrame{60, 5, 20};

TimeFrame frameOf(const worker::Evaluate& job)
{
    if (job.setting.mode == "server") {
        return job.tier == Tier::Full ? fullServerFrame : quickServerFrame;
    }
    return job.tier == Tier::Full ? fullFrame : quickFrame;
}

double budgetOf(const TimeFrame& frame, double elapsed, std::size_t casesLeft)
{
    return std::clamp((frame.whole - elapsed) / static_cast<double>(casesLeft), frame.least, frame.most);
}

double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Verdict unsupported(std::string reason)
{
    return {Outcome::NotRun, NotRunCause::Unsupported, std::move(reason), {}, false};
}

Verdict verdictOfTask(const Error& error)
{
    return error.code == ErrorCode::NotSupported ? unsupported(error.message) : infrastructure(error);
}

std::vector<std::string> outputsOf(const Task& task)
{
    std::vector<std::string> outputs;
    for (const Argument& argument : task.arguments) {
        if (argument.kind == ArgumentKind::Output) {
            outputs.push_back(argument.name);
        }
    }
    return outputs;
}

bool contains(const std::vector<std::string>& list, const std::string& text)
{
    return std::find(list.begin(), list.end(), text) != list.end();
}

} // namespace

Judged<std::shared_ptr<const Task>> Evaluator::taskOf(const std::string& hash)
{
    if (const auto found = m_tasks.find(hash); found != m_tasks.end()) {
        return found->second;
    }
    auto text = m_context.store.text(hash);
    if (!text) {
        return std::unexpected(infrastructure(text.error()));
    }
    auto task = parseTask(*text);
    if (!task) {
        return std::unexpected(verdictOfTask(task.error()));
    }
    if (auto supported = checkSupported(*task); !supported) {
        return std::unexpected(verdictOfTask(supported.error()));
    }
    const DeviceInfo& device = m_context.device().info();
    if (std::pair(task->needs.capabilityMajor, task->needs.capabilityMinor) >
        std::pair(device.smMajor, device.smMinor)) {
        return std::unexpected(unsupported(fmt::format("task {} needs compute capability {}.{}, {} has {}.{}", task->id,
                                                       task->needs.capabilityMajor, task->needs.capabilityMinor,
                                                       device.name, device.smMajor, device.smMinor)));
    }
    auto shared = std::make_shared<const Task>(std::move(*task));
    m_tasks.emplace(hash, shared);
    return shared;
}

Judged<Evaluator::Plans> Evaluator::plansOf(const Task& task, const std::vector<std::string>& wanted, Tier tier) const
{
    const bool simulated = m_context.session.simulated();
    for (const std::string& id : wanted) {
        const TaskCase* known = task.findCase(id);
        if (!known) {
            return notRun(NotRunCause::Infrastructure, fmt::format("task {} has no case {}", task.id, id));
        }
        if (simulated && !known->has(CaseRole::Simulate)) {
            return std::unexpected(unsupported(fmt::format(
                "case {} of task {} has no role simulate: it is too large for the simulated device", id, task.id)));
        }
    }
    Plans plans;
    std::vector<const TaskCase*> bases, gate;
    for (const TaskCase& taskCase : task.cases) {
        if (!wanted.empty() && !contains(wanted, taskCase.id)) {
            continue;
        }
        const bool simulate = taskCase.has(CaseRole::Simulate);
        const bool verify = simulated ? simulate : taskCase.has(CaseRole::Verify);
        const bool timed = simulated ? simulate && taskCase.weight > 0 : taskCase.has(CaseRole::Time);
        if (!verify && !timed) {
            continue;
        }
        auto plan = planCase(task, taskCase);
        if (!plan) {
            return std::unexpected(verdictOfTask(plan.error()));
        }
        if (verify) {
            plans.verify.push_back(*plan);
            gate.push_back(&taskCase);
        }
        if (timed) {
            bases.push_back(&taskCase);
            plans.timed.push_back(std::move(*plan));
        }
    }
    if (plans.verify.empty()) {
        plans.verify = plans.timed; // the gate is never skipped
    }
    if (plans.verify.empty()) {
        return std::unexpected(
            unsupported(fmt::format("task {} has no case that {} serves", task.id, m_context.device().info().name)));
    }
    std::mt19937_64 random(randomSeed()); // for this candidate alone
    plans.unseen = unseenCases(task, bases, plans.verify, tier, random);
    for (CasePlan& plan : turnedCases(task, gate)) {
        plans.unseen.push_back(std::move(plan));
    }
    if (const std::size_t cheap = RepeatCheck::choose(plans.verify, true); cheap < plans.verify.size()) {
        auto relations = planRelations(task, *task.findCase(plans.verify[cheap].id));
        if (!relations) {
            return std::unexpected(verdictOfTask(relations.error()));
        }
        plans.relations = std::move(*relations);
    }
    return plans;
}

Judged<void> Evaluator::open(const worker::Evaluate& job, const Task& task, const Plans& plans)
{
    ESPALIER_CHECK(oracleOf(job, task));
    if (m_context.session.simulated() || job.tier == Tier::Full || job.verifyOnly) {
        return {};
    }
    for (const Rival& rival : rivalsOf(job, task)) {
        if (rival.role != Role::Trusted || !m_opened.emplace(job.task, rival.library).second) {
            continue;
        }
        const auto warm =
            m_context.runners.warm(rival.role, rival.library, entryNames(rival.entry), rival.id, m_context.interrupts);
        for (auto plan = plans.timed.begin(); warm && plan != plans.timed.end(); ++plan) {
            if (rival.baseline->serves(plan->id) && !callRival(**warm, *plan, nullptr)) {
                break; // what keeps it from being timed is said where it would have been
            }
        }
    }
    return {};
}

Judged<LoadedRunner*> Evaluator::oracleOf(const worker::Evaluate& job, const Task& task)
{
    const std::vector<std::string> names = OracleComparison::names(task.entry, outputsOf(task));
    auto oracle = m_context.runners.warm(Role::Trusted, job.oracle, names, "the oracle", m_context.interrupts);
    if (!oracle) {
        return std::unexpected(infrastructure(oracle.error()));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (((*oracle)->found >> i & 1) == 0) {
            return notRun(NotRunCause::Infrastructure,
                          fmt::format("{} of task {} does not define {}", task.oracle.source.name, task.id, names[i]));
        }
    }
    return *oracle;
}

Judged<void> Evaluator::checkStatics(const worker::Evaluate& job, const Task& task, const Verified& verified)
{
    for (const Limit& limit : task.contract.limits) {
        const auto check = [&](double measured, const std::string& where) -> Judged<void> {
            if (limit.holds(measured)) {
                return {};
            }
            return rejected(Outcome::Incorrect, "limits",
                            fmt::format("{} is {:g}{}; {}", limit.what, measured, where, limit.sentence()));
        };
        if (limit.what == "library_bytes") {
            ESPALIER_TRY(const std::uint64_t bytes, orInfrastructure(m_context.store.bytes(job.candidate)));
            ESPALIER_CHECK(check(static_cast<double>(bytes), ""));
        } else if (limit.what == "workspace_bytes") {
            for (const auto& [id, bytes] : verified.workspaceBytes) {
                ESPALIER_CHECK(check(static_cast<double>(bytes), " in case " + id));
            }
        } else if (limit.what == "launches") {
            for (const LaunchCount& count : verified.record.launches) {
                ESPALIER_CHECK(check(count.kernels, " in a call of case " + count.caseId));
            }
        }
    }
    return {};
}

void Evaluator::completeIncumbent(const worker::Evaluate& job, CaseTiming& timing)
{
    if (!job.incumbent) {
        return;
    }
    if (job.incumbent->first == job.candidate) {
        timing.speedupIncumbent = Interval{1, 1, 1};
    } else if (job.incumbent->first == job.root) {
        timing.speedupIncumbent = timing.speedupRoot;
    }
}

/// What the vendor's libraries behind the baselines call themselves: a rival of another version is another rival.
void Evaluator::noteVersions(const std::vector<Rival>& rivals, const std::vector<Contender>& contenders,
                             TimingRecord& record)
{
    for (const Rival& rival : rivals) {
        const auto seat = std::find_if(contenders.begin(), contenders.end(),
                                       [&](const Contender& contender) { return contender.id == rival.id; });
        if (!rival.baseline || rival.baseline->libraries.empty() || record.rivalVersions.contains(rival.id) ||
            seat == contenders.end() || seat->lanes.empty()) {
            continue;
        }
        std::string versions;
        for (const std::string& name : seat->lanes.front().runner->process->libraries()) {
            const bool asked =
                std::any_of(rival.baseline->libraries.begin(), rival.baseline->libraries.end(),
                            [&](const std::string& library) { return name.starts_with("lib" + library + ".so"); });
            versions += asked ? (versions.empty() ? "" : ", ") + name : "";
        }
        if (!versions.empty()) {
            record.rivalVersions[rival.id] = versions;
        }
    }
}

Judged<TimingRecord> Evaluator::measure(const worker::Evaluate& job, const Callbacks& callbacks, const Task& task,
                                        const Plans& plans, OracleComparison& oracle, LoadedRunner& candidate,
                                        Evaluation& evaluation)
{
    TimingRecord record;
    record.regime = job.setting.regime;
    record.mode = job.setting.mode;
    record.rate = job.setting.rate;
    record.monitor = m_monitor->name();
    record.phaseSeconds["gate"] = secondsSince(m_start) - m_sanitizing;
    if (m_sanitizing > 0) {
        record.phaseSeconds["sanitizer"] = m_sanitizing;
    }
    const bool cold = record.regime == "cold";
    const bool server = record.mode == "server";
    record.clocks = server ? "the judge's clock, from a call's arrival to its answer"
                           : "device events of the runner, held against the judge's clock block by block; the "
                             "activity span, where it was recorded, is of a process of its own";
    const std::vector<Rival> rivals = rivalsOf(job, task);
    std::vector<std::string> vendor;
    for (const Rival& rival : rivals) {
        if (rival.baseline && !rival.baseline->libraries.empty()) {
            vendor.push_back(rival.id);
        }
    }
    Processes processes;
    if (job.tier == Tier::Full) {
        callbacks.progress(Stage::Time, "starting fresh runners");
        const auto begin = std::chrono::steady_clock::now();
        ESPALIER_TRY(processes, freshProcesses(job, task, rivals, evaluation.evidence));
        record.phaseSeconds["processes"] = secondsSince(begin);
    }
    const Floors floors = Floors::create(m_context.device().info(), task, m_roofs);
    Timer timer(m_context, oracle, floors, *m_monitor, job.tier, job.setting);
    timer.onProgress = [&](const std::string& text) { callbacks.progress(Stage::Time, text); };
    const TimeFrame frame = frameOf(job);
    for (const CasePlan& plan : plans.timed) {
        callbacks.progress(Stage::Time, fmt::format("case {}", plan.id));
        const auto begin = std::chrono::steady_clock::now();
        ESPALIER_TRY(std::vector<Contender> contenders,
                     contendersOf(job.task, plan, rivals, processes, oracle, candidate, evaluation.evidence));
        ESPALIER_TRY(contenders[0].workspaceBytes, workspaceOf(m_context, *contenders[0].lanes[0].runner, plan));
        record.phaseSeconds["processes"] += secondsSince(begin);
        const auto budget = [&] {
            return budgetOf(frame, secondsSince(m_start) - m_sanitizing, plans.timed.size() - record.cases.size());
        };
        ESPALIER_TRY(CaseTiming timing, timer.time(plan, contenders, budget, record));
        for (const Contender& contender : contenders) {
            if (!contender.out.empty()) {
                evaluation.evidence.push_back(
                    {"rival", fmt::format("{} left the timing of case {}: {}", contender.id, plan.id, contender.out)});
                m_context.runners.dropDead();
            }
        }
        if (job.root == job.candidate) {
            timing.speedupRoot = Interval{1, 1, 1};
        }
        completeIncumbent(job, timing);
        if (timing.timeUs.value < coarseBelowUs && !server) {
            evaluation.evidence.push_back(
                {"clock",
                 fmt::format("case {} is so short that the judge's own clock confirms its events only coarsely",
                             plan.id)});
        }
        for (Evidence& review : reviewOf(timing, vendor, cold)) {
            evaluation.evidence.push_back(std::move(review));
        }
        noteVersions(rivals, contenders, record);
        record.cases.push_back(std::move(timing));
    }
    return record;
}

Judged<void> Evaluator::evaluate(const worker::Evaluate& job, const Callbacks& callbacks, Evaluation& evaluation)
{
    ESPALIER_TRY(const std::shared_ptr<const Task> task, taskOf(job.task));
    ESPALIER_TRY(const Plans plans, plansOf(*task, job.cases, job.tier));
    if (m_context.session.simulated() && job.setting != TimingSetting{}) {
        return std::unexpected(unsupported("the simulated device models calls of regime cold and mode offline only; "
                                           "other settings need a GPU"));
    }
    m_context.runners.expect(4 + job.baselines.size());
    ESPALIER_CHECK(open(job, *task, plans));
    m_opening += secondsSince(m_start);
    m_start = std::chrono::steady_clock::now();
    ESPALIER_CHECK(orInfrastructure(prepareRunners(job, *task)));
    ESPALIER_TRY(LoadedRunner* const oracleRunner, oracleOf(job, *task));
    OracleComparison oracle(m_context, *oracleRunner, task->entry);
    ESPALIER_TRY(LoadedRunner candidate,
                 m_context.runners.candidate(job.candidate, entryNames(task->entry), m_context.interrupts));
    m_context.runners.setCandidate(candidate.process.get());
    Profiler profiler(m_context, *task);
    profiler.onProgress = [&](const std::string& text) { callbacks.progress(Stage::Profile, text); };
    const auto profile = [&]() -> Judged<void> {
        if (job.profiling == Profiling::Off || m_context.session.simulated()) {
            return {};
        }
        callbacks.progress(Stage::Profile, "profiling");
        m_context.buffers.release();
        const DeviceInfo& device = m_context.device().info();
        const std::string measured = readFile(measuredRoofsFile(device.uuid)).value_or(std::string());
        profiler.roofs = deviceRoofs(device, measured, m_roofs);
        return profiler.run(candidate, plans.timed, job.profiling, evaluation);
    };
    const auto run = [&]() -> Judged<void> {
        // A session that was cut off between gate and timing brings the gate's record along. The simulated device
        // counts in the gate what it models times from, so there the gate cannot be left out.
        const bool gated = job.verified && !job.verifyOnly && !m_context.session.simulated();
        Verified verified;
        if (gated) {
            verified.record = *job.verified;
        } else {
            Verifier verifier(m_context, oracle, candidate);
            verifier.onProgress = [&](const std::string& text) { callbacks.progress(Stage::Verify, text); };
            ESPALIER_TRY(verified, verifier.run(plans.verify, plans.unseen, plans.relations, job.tier));
            ESPALIER_CHECK(checkStatics(job, *task, verified));
        }
        evaluation.verify = verified.record;
        if (job.sanitizing != Sanitizing::Off) {
            const auto begin = std::chrono::steady_clock::now();
            Sanitizer sanitizer(m_context, task->entry);
            sanitizer.onProgress = [&](const std::string& text) { callbacks.progress(Stage::Verify, text); };
            ESPALIER_CHECK(
                sanitizer.run(job.candidate, plans.verify, job.sanitizing, evaluation.sanitizer, evaluation.evidence));
            m_sanitizing = secondsSince(begin);
        }
        if (!plans.timed.empty() && verified.simulated.contains(plans.timed[0].id)) {
            const auto& counted = verified.simulated.at(plans.timed[0].id);
            evaluation.metrics =
                modelledMetrics(counted.counters, counted.launches, statistics::median(counted.seconds));
            evaluation.profile = modelledProfile(plans.timed[0]);
            evaluation.profile->roofs = simulatedRoofs(readFile(findDeviceProfile()).value_or(std::string()));
        }
        if (job.verifyOnly || plans.timed.empty()) {
            return profile();
        }
        if (!gated) {
            callbacks.verified(verified.record);
        }
        evaluation.stage = Stage::Time;
        const auto start = std::chrono::steady_clock::now();
        auto measured = m_context.session.simulated()
                            ? model(job, *task, plans, verified, oracle, evaluation.evidence)
                            : measure(job, callbacks, *task, plans, oracle, candidate, evaluation);
        if (!measured && measured.error().disturbed) {
            m_context.buffers.release();
            ESPALIER_CHECK(profiler.account(candidate, plans.timed, evaluation));
        }
        ESPALIER_TRY(TimingRecord record, std::move(measured));
        for (Evidence& told : completeObjective(*task, plans.timed, record)) {
            evaluation.evidence.push_back(std::move(told));
        }
        record.tier = worker::nameOf(job.tier);
        record.device = m_context.session.simulated() ? std::string() : m_context.device().info().uuid;
        record.seconds = secondsSince(start);
        evaluation.timing = std::move(record);
        return profile(); // after the last timed block
    };
    Judged<void> result = run();
    m_context.runners.unseat();
    m_context.runners.setCandidate(nullptr);
    evaluation.output = candidate.process->output();
    if (result) {
        m_context.runners.keep(std::move(candidate));
    }
    return result;
}

Evaluation Evaluator::attempt(const worker::Evaluate& job, const Callbacks& callbacks, bool& again)
{
    Evaluation evaluation;
    evaluation.stage = Stage::Verify;
    evaluation.epoch = m_epoch;
    m_start = std::chrono::steady_clock::now();
    m_sanitizing = 0;
    Judged<void> result = evaluate(job, callbacks, evaluation);
    m_context.buffers.release();
    m_context.runners.dropDead();
    const double before = secondsSince(m_start);
    if (job.tier == Tier::Full) { // the next candidate does not pay for the processes of this one
        (void)m_context.runners.prepareStandby();
        m_context.runners.awaitLeft();
    }
    const double leaving = secondsSince(m_start) - before;
    evaluation.judgeSeconds = secondsSince(m_start);
    if (evaluation.timing) {
        if (job.tier == Tier::Full) {
            evaluation.timing->phaseSeconds["leaving"] = leaving;
        }
        double told = evaluation.profile ? evaluation.profile->seconds : 0;
        for (const auto& [phase, seconds] : evaluation.timing->phaseSeconds) {
            told += seconds;
        }
        evaluation.timing->phaseSeconds["rest"] = evaluation.judgeSeconds - told;
        evaluation.timing->phaseSeconds["opening"] = m_opening;
    }
    again = false;
    if (result) {
        evaluation.outcome = Outcome::Passed;
        const char* timed = m_context.session.simulated() ? "verified; its time is modelled" : "verified and timed";
        evaluation.reason = evaluation.timing ? timed : "verified";
        return evaluation;
    }
    Verdict& verdict = result.error();
    again = verdict.again;
    evaluation.outcome = verdict.outcome;
    evaluation.cause = verdict.cause;
    evaluation.reason = std::move(verdict.reason);
    evaluation.evidence.insert(evaluation.evidence.begin(), verdict.evidence.begin(), verdict.evidence.end());
    return evaluation;
}

bool Evaluator::recover()
{
    if (!m_context.session.lost()) {
        return true;
    }
    m_context.runners.clear();
    m_context.buffers.clear();
    return m_context.session.restart().has_value();
}

Evaluation Evaluator::run(const worker::Evaluate& job, const Callbacks& callbacks)
{
    bool again = false;
    m_opening = 0;
    Evaluation evaluation = attempt(job, callbacks, again);
    const bool lost = evaluation.outcome != Outcome::Passed && m_context.session.lost();
    const bool cancelled = evaluation.cause == NotRunCause::Cancelled;
    if ((again || lost) && !cancelled && recover()) {
        callbacks.progress(Stage::Verify, fmt::format("again, because of: {}", evaluation.reason));
        evaluation = attempt(job, callbacks, again);
        if (evaluation.outcome != Outcome::Passed && m_context.session.lost() && recover()) {
            evaluation.outcome = Outcome::NotRun;
            evaluation.cause = NotRunCause::Infrastructure;
            evaluation.reason = "the device was lost twice while this candidate ran: " + evaluation.reason;
        }
    }
    return evaluation;
}

} // namespace espalier::judge
