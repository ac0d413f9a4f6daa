// SPDX-License-Identifier: Apache-2.0
#include "core/judge/profiler.h"

#include "core/analysis/occupancy.h"
#include "core/judge/activity_check.h"
#include "core/judge/counter_lock.h"
#include "core/judge/metric_values.h"
#include "core/judge/profile_reading.h"
#include "core/model/metric.h"
#include "core/profile/cupti_search.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <optional>

namespace espalier::judge {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t activityCalls = 5;
constexpr std::chrono::milliseconds collectDeadline{30000},
    lockPatience{5000}; ///< kernels that wait for each other hang under replay

double sinceSeconds(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of the case that was timed longest: the one that decides.
const CaseTiming* longestOf(const Evaluation& evaluation)
{
    const CaseTiming* longest = nullptr;
    if (evaluation.timing) {
        for (const CaseTiming& timing : evaluation.timing->cases) {
            if (!longest || timing.timeUs.value > longest->timeUs.value) {
                longest = &timing;
            }
        }
    }
    return longest;
}

std::vector<MetricValue> activityMetrics(const ActivitySeen& seen)
{
    const auto metric = [](const char* id, double value) { return MetricValue{id, value, Provenance::Measured}; };
    std::vector<MetricValue> metrics = {metric("device_time_us", seen.facts.spanUs),
                                        metric("kernel_time_us", seen.facts.kernelUs),
                                        metric("launches", seen.facts.kernels)};
    const auto heaviest =
        std::max_element(seen.kernels.begin(), seen.kernels.end(),
                         [](const ProfiledKernel& a, const ProfiledKernel& b) { return a.timeUs < b.timeUs; });
    if (heaviest != seen.kernels.end() && heaviest->occupancyLimit > 0) {
        metrics.push_back({"occupancy_limit_percent", heaviest->occupancyLimit, Provenance::Measured, 100});
    }
    return metrics;
}

void append(std::vector<MetricValue>& metrics, std::vector<MetricValue> more)
{
    metrics.insert(metrics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void told(CollectorRun& run, const Error& error)
{
    run.done = false;
    run.note = error.message;
}

void addOccupancy(std::vector<ProfiledKernel>& kernels, const DeviceInfo& device)
{
    for (ProfiledKernel& kernel : kernels) {
        const int threads = kernel.block.at(0) * kernel.block.at(1) * kernel.block.at(2);
        const Occupancy occupancy =
            occupancyOf({threads, kernel.registers, kernel.staticSharedBytes + kernel.dynamicSharedBytes},
                        device.smMajor, device.smMinor);
        kernel.occupancyLimit = occupancy.percent;
        kernel.limitedBy = occupancy.limitedBy;
    }
}

} // namespace

/// Everything that the collectors of one candidate share.
struct Profiler::Bench {
    std::string library;
    profile::CuptiPlace cupti;
    std::optional<WorkArea> area;
    bool cold = true;
    double timedUs = 0;
    Profiling level = Profiling::Core;
};

std::string Profiler::setsFor(Profiling level) const
{
    std::string sets = "core,flops";
    const auto allowed = [&](std::string_view name) {
        const auto& list = m_task.contract.allowedInternal;
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    const auto argument = [&](DataType type) {
        return std::any_of(m_task.arguments.begin(), m_task.arguments.end(),
                           [&](const Argument& one) { return one.type == type; });
    };
    // A tensor type costs a pass of its own: only those that the task lets a kernel use.
    using enum DataType;
    const std::pair<bool, const char*> tensor[] = {
        {argument(F16) || allowed("f16"), ",tensor_f16"},        {argument(BF16) || allowed("bf16"), ",tensor_bf16"},
        {argument(TF32) || allowed("tf32"), ",tensor_tf32"},     {argument(F64), ",tensor_f64"},
        {argument(FP8E4M3) || argument(FP8E5M2), ",tensor_fp8"}, {argument(I8), ",tensor_int8"}};
    for (const auto& [wanted, set] : tensor) {
        sets += wanted ? set : "";
    }
    return level >= Profiling::Full ? sets + ",full" : sets;
}

/// A collector's process. It starts on its own; nothing foreign is in it before collect().
struct Profiler::Attempt {
    std::string collector;
    std::unique_ptr<RunnerProcess> process;
    CollectorRun run;
    Clock::time_point start = Clock::now();

    Judged<void> end(std::string note)
    {
        run.seconds = sinceSeconds(start);
        run.note = std::move(note);
        if (process) {
            process->kill();
        }
        return {};
    }
    Judged<void> lose(const RunnerFailure& failure, const char* during)
    {
        if (failure.loss == Loss::Cancelled) {
            return notRun(NotRunCause::Cancelled, "cancelled");
        }
        return end(
            failure.loss == Loss::Deadline
                ? fmt::format("{} did not end within {}; kernels that wait for each other hang while they are profiled",
                              during, failure.text)
            : failure.loss == Loss::DeviceLost
                ? fmt::format("the kernel faulted while it was profiled: {}", failure.text)
                : failure.text);
    }
};

Profiler::Attempt Profiler::begin(const Bench& bench, const std::string& collector, const std::string& sets) const
{
    Attempt attempt;
    attempt.collector = attempt.run.collector = collector;
    CollectorSpec spec;
    spec.arguments = {"--cupti", bench.cupti.library, "--collect", collector};
    if (!sets.empty()) {
        spec.arguments.insert(spec.arguments.end(), {"--sets", sets});
    }
    if (!bench.cold) {
        spec.arguments.emplace_back("--warm");
    }
    spec.readOnly = {std::filesystem::path(bench.cupti.library).parent_path().string()};
    if (bench.cupti.folder != spec.readOnly.front()) {
        spec.readOnly.push_back(bench.cupti.folder);
    }
    auto process = RunnerProcess::start(m_context.session, m_context.runners.worker(), &m_context.runners.sandbox(),
                                        Queues::Default, &spec);
    if (process) {
        attempt.process = std::move(*process);
    } else {
        (void)attempt.end(process.error().message);
    }
    return attempt;
}

Judged<void> Profiler::await(Attempt& attempt) const
{
    if (!attempt.process) {
        return {}; // it has said why
    }
    if (auto ready = attempt.process->awaitReady(m_context.runners.deadlines().start, m_context.interrupts); !ready) {
        ESPALIER_CHECK(attempt.lose(ready.error(), "starting CUPTI"));
        attempt.process.reset();
    }
    return {};
}

/// The library, the calls, and the process's end. Nothing where it did not start.
Judged<Json> Profiler::collect(const Bench& bench, Attempt& attempt) const
{
    Json seen;
    ESPALIER_CHECK(await(attempt));
    if (attempt.process) {
        ESPALIER_CHECK(watch(bench, attempt, seen));
    }
    return seen;
}

Judged<void> Profiler::watch(const Bench& bench, Attempt& attempt, Json& seen) const
{
    if (onProgress) {
        onProgress(attempt.collector);
    }
    LoadedRunner runner{std::move(attempt.process), bench.library, Role::Candidate, 0};
    const auto ended = [&](std::string note) {
        attempt.process = std::move(runner.process);
        return attempt.end(std::move(note));
    };
    const auto lost = [&](const RunnerFailure& failure, const char* during) {
        attempt.process = std::move(runner.process);
        return attempt.lose(failure, during);
    };
    auto library = m_context.store.descriptor(bench.library);
    if (!library) {
        return ended(library.error().message);
    }
    auto found = runner.process->load(*library, entryNames(m_task.entry), m_context.runners.deadlines().start,
                                      m_context.interrupts);
    if (!found) {
        return lost(found.error(), "loading the library");
    }
    runner.found = *found;
    const auto orNote = [&](const Verdict& verdict) -> Judged<void> {
        return verdict.cause == NotRunCause::Cancelled ? std::unexpected(verdict) : ended(verdict.reason);
    };
    auto workspace = workspaceOf(m_context, runner, bench.area->plan());
    if (!workspace) {
        return orNote(workspace.error());
    }
    if (*workspace > bench.area->workspace().bytes) {
        return ended("the library asks for more workspace than it did before");
    }
    std::vector<runner::Call> calls;
    const std::size_t different = attempt.collector == "activity" ? bench.area->sets() : 1;
    for (std::size_t i = 0; i < different; ++i) {
        auto call = entryCall(m_context, runner, *bench.area, i, *workspace);
        if (!call) {
            return orNote(call.error());
        }
        call->snapshots.clear();
        calls.push_back(std::move(*call));
    }
    const auto collecting = Clock::now();
    auto text = runner.process->collect(calls, collectDeadline, m_context.interrupts);
    attempt.run.collectSeconds = sinceSeconds(collecting);
    if (!text) {
        return lost(text.error(), "profiling");
    }
    auto json = parseJson(*text, attempt.collector);
    if (!json) {
        return ended(json.error().message);
    }
    seen = std::move(*json);
    attempt.run.done = true;
    return ended("");
}

/// What the calls put on the device: facts and kernels for the record, and the verdict where nobody waits for some of
/// it.
Judged<void> Profiler::activity(const Bench& bench, Attempt& attempt, Evaluation& evaluation) const
{
    ProfileRecord& record = *evaluation.profile;
    ESPALIER_TRY(const Json seen, collect(bench, attempt));
    std::optional<std::string> outside;
    if (attempt.run.done) {
        if (auto understood = readActivity(seen, record.caseId, bench.timedUs)) {
            addOccupancy(understood->kernels, m_context.device().info());
            record.kernels = understood->kernels;
            append(evaluation.metrics, activityMetrics(*understood));
            if (evaluation.timing) {
                evaluation.timing->activity.push_back(understood->facts);
            }
            for (const std::string& remark : understood->remarks) {
                evaluation.evidence.push_back({"activity", remark});
            }
            outside = understood->outside;
        } else {
            told(attempt.run, understood.error());
        }
    }
    record.collectors.push_back(attempt.run);
    return outside ? rejected(Outcome::Suspicious, "activity", *outside) : Judged<void>();
}

Judged<void> Profiler::withArea(const Bench& bench, Evaluation& evaluation)
{
    ProfileRecord& record = *evaluation.profile;
    const std::string sets = setsFor(bench.level);
    auto lock = CounterLock::take(m_context.device().info().uuid, lockPatience);
    // Both start side by side: most of it is the host's work, and preparing counters holds no hardware.
    Attempt activity = begin(bench, "activity", "");
    std::optional<Attempt> ranges;
    if (lock) {
        ranges.emplace(begin(bench, "ranges", sets));
        ESPALIER_CHECK(await(*ranges)); // its start must not stand in the third clock
    }
    ESPALIER_CHECK(this->activity(bench, activity, evaluation));
    if (!ranges) {
        record.collectors.push_back({"ranges", false, 0, 0, lock.error().message});
        return {};
    }
    ESPALIER_TRY(const Json seen, collect(bench, *ranges));
    if (ranges->run.done) {
        if (auto counters = readCounters(seen, profile::counterSetsNamed(sets))) {
            record.chip = counters->chip;
            record.passes = counters->passes;
            ranges->run.note = counters->note;
            append(evaluation.metrics, counters->metrics);
        } else {
            told(ranges->run, counters.error());
        }
    }
    record.collectors.push_back(ranges->run);
    if (bench.level >= Profiling::Full) {
        ESPALIER_CHECK(byInstruction(bench, record));
    }
    addRates(evaluation.metrics, bench.timedUs, Provenance::Measured);
    inTableOrder(evaluation.metrics);
    return {};
}

/// Samples, then exact counts of the same instructions.
Judged<void> Profiler::byInstruction(const Bench& bench, ProfileRecord& record)
{
    Attempt sampling = begin(bench, "sampling", "");
    ESPALIER_TRY(const Json sampled, collect(bench, sampling));
    if (sampling.run.done) {
        if (auto samples = readSamples(sampled)) {
            record.samples = samples->samples;
            record.instructions = std::move(samples->instructions);
            sampling.run.note = samples->note;
        } else {
            sampling.run.done = false;
            sampling.run.note = samples.error().message;
        }
    }
    record.collectors.push_back(sampling.run);
    if (bench.level != Profiling::Exact) {
        return {};
    }
    Attempt counting = begin(bench, "sass", "");
    ESPALIER_TRY(const Json counted, collect(bench, counting));
    if (counting.run.done) {
        const auto added = readCounts(counted, record.instructions);
        counting.run.done = added.has_value();
        counting.run.note = added ? *added : added.error().message;
    }
    record.collectors.push_back(counting.run);
    return {};
}

/// The library and a work area full of fresh inputs. False where something is missing: the record says what.
Judged<bool> Profiler::fill(Bench& bench, LoadedRunner& candidate, const CasePlan& plan, ProfileRecord& record) const
{
    const auto nothing = [&](const std::string& why) {
        record.collectors.push_back({"activity", false, 0, 0, why});
        return false;
    };
    static const Result<profile::CuptiPlace> cupti = profile::findCupti();
    if (!cupti) {
        return nothing(cupti.error().message);
    }
    record.tool = "CUPTI 13";
    bench.library = candidate.library;
    bench.cupti = *cupti;
    ESPALIER_TRY(const std::uint64_t workspace, workspaceOf(m_context, candidate, plan));
    for (const std::size_t calls : {activityCalls, std::size_t{1}}) { // as many as there is memory for
        auto area = WorkArea::create(m_context.device(), m_context.buffers, plan, calls, workspace, 0,
                                     !m_context.session.exactGrants());
        if (area) {
            bench.area.emplace(std::move(*area));
            break;
        }
        if (calls == 1) {
            return nothing(area.error().message);
        }
    }
    for (std::size_t i = 0; i < bench.area->sets(); ++i) {
        ESPALIER_CHECK(orInfrastructure(bench.area->drawInputs(i)));
        ESPALIER_CHECK(orInfrastructure(bench.area->poisonOutputs(i, Before::Noise)));
    }
    ESPALIER_CHECK(orInfrastructure(bench.area->poisonWorkspace()));
    return true;
}

Judged<void> Profiler::run(LoadedRunner& candidate, const std::vector<CasePlan>& plans, Profiling level,
                           Evaluation& evaluation)
{
    const auto start = Clock::now();
    const CaseTiming* timed = longestOf(evaluation);
    const auto plan = std::find_if(plans.begin(), plans.end(),
                                   [&](const CasePlan& one) { return !timed || one.id == timed->caseId; });
    if (plan == plans.end()) {
        return {};
    }
    evaluation.metrics.clear();
    ProfileRecord& record = evaluation.profile.emplace();
    record.caseId = plan->id;
    record.level = level >= Profiling::Full ? "full" : "core";
    record.provenance = Provenance::Measured;
    record.taskBytes = static_cast<double>(plan->minimumBytes);
    record.taskFlops = plan->flops;
    record.roofs = roofs;
    Bench bench;
    bench.cold = !evaluation.timing || evaluation.timing->regime == "cold";
    bench.timedUs = timed ? timed->timeUs.value : 0;
    bench.level = level;
    ESPALIER_TRY(const bool filled, fill(bench, candidate, *plan, record));
    const Judged<void> done = filled ? withArea(bench, evaluation) : Judged<void>();
    record.seconds = sinceSeconds(start);
    return done;
}

Judged<void> Profiler::account(LoadedRunner& candidate, const std::vector<CasePlan>& plans, Evaluation& evaluation)
{
    ProfileRecord& record = evaluation.profile.emplace();
    record.caseId = plans.front().id;
    Bench bench;
    ESPALIER_TRY(const bool filled, fill(bench, candidate, plans.front(), record));
    Judged<void> done;
    if (filled) {
        Attempt attempt = begin(bench, "activity", "");
        done = activity(bench, attempt, evaluation);
    }
    evaluation.profile.reset(); // it was asked one question
    evaluation.metrics.clear();
    return done;
}

} // namespace espalier::judge
