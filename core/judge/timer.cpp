// SPDX-License-Identifier: Apache-2.0
#include "core/judge/timer.h"

#include "core/analysis/statistics.h"
#include "core/judge/defences.h"
#include "core/judge/graph_replay.h"
#include "core/judge/verifier.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <numeric>
#include <poll.h>

namespace espalier::judge {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t fewestCalls = 2;
constexpr double fullyComparedShare = 0.1;
constexpr double physicalSlack = 0.98;
constexpr double graphBelowUs = 10;    ///< shorter calls are timed by replaying many of them as one graph
constexpr double memoRatio = 1.5;      ///< honest kernels stay below 1.22 (verification.md, V24)
constexpr double nearPeak = 0.95;      ///< of the measured peak: worth a look
constexpr double farBeyondVendor = 2;  ///< times as fast as a vendor's library: worth a look

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What stands in the outputs before a block. The previous answer is a trap only for the first of a round: after it the
/// outputs hold the right answers to these very inputs.
Before beforeOf(std::mt19937_64& random, bool first)
{
    constexpr std::array all = {Before::Noise, Before::NaN, Before::PreviousAnswer, Before::Inverted};
    return all[random() % (first ? 4 : 2)];
}

/// With ESPALIER_TRACE_CLOCK set, every block's clocks go to stderr: what to look at when blocks are dropped.
void trace(const Contender& contender, const std::string& during, const RunnerProcess::Block& block,
           const ClockedBlock& clocked)
{
    static const bool wanted = std::getenv("ESPALIER_TRACE_CLOCK") != nullptr;
    if (wanted) {
        fmt::print(stderr, "clock: {} {} calls {} wall {:.0f} claimed {:.0f} residual {:.0f} median {:.2f}{}\n", during,
                   contender.id, clocked.events.size(), block.wallMicroseconds, clocked.claimed, clocked.residual,
                   clocked.median, clocked.agrees ? "" : " dropped");
    }
}

constexpr std::uint64_t bootstrapSeed =
    0x45737061; // the interval of given samples must not depend on when it is computed

/// Waits, and spins through the last two milliseconds: a late waking would count as latency. False when cancelled.
bool awaitMoment(Clock::time_point moment, Interrupts& interrupts)
{
    for (auto now = Clock::now(); now < moment; now = Clock::now()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(moment - now).count() - 1;
        pollfd polled = {interrupts.descriptor(), POLLIN, 0};
        if (left > 0 && ::poll(&polled, 1, static_cast<int>(std::min<long long>(left, 1000))) > 0) {
            interrupts.service();
            if (interrupts.cancelled()) {
                return false;
            }
        }
    }
    return true;
}

Latency latencyOf(const std::vector<double>& samples)
{
    return {statistics::quantile(samples, 0.50), statistics::quantile(samples, 0.95),
            statistics::quantile(samples, 0.99), static_cast<int>(samples.size())};
}

} // namespace

StoppingCriterion Timer::criterion(std::size_t lanes, double budgetSeconds) const
{
    StoppingCriterion criterion;
    criterion.budgetSeconds = budgetSeconds;
    if (m_tier == Tier::Quick) {
        criterion.minimumBlocks = 5;
        criterion.maximumBlocks = 30;
        criterion.halfWidth = 0.01;
    } else {
        criterion.minimumBlocks = 30;
        criterion.maximumBlocks = 400;
        criterion.halfWidth = 0.005;
    }
    criterion.fewestBlocks = lanes > 1 ? static_cast<int>(4 * lanes) : 3;
    return criterion;
}

/// B: how many calls make a block long enough to be timed, memory and messages permitting.
std::size_t Timer::callsPerBlock(double microseconds) const
{
    constexpr double most = 32;
    if (serves()) {
        constexpr double blockSeconds = 0.1;
        return static_cast<std::size_t>(
            std::clamp(std::ceil(m_setting.rate * blockSeconds), static_cast<double>(fewestCalls), most));
    }
    // Preparing every buffer set costs more than timing it: both tiers must keep to their seconds.
    const double blockTime = m_tier == Tier::Full ? 4000 : 2500;
    return static_cast<std::size_t>(std::clamp(std::ceil(blockTime / std::max(microseconds, 1.0)),
                                               static_cast<double>(fewestCalls), most));
}

Judged<void> Timer::enter(const WorkArea& area, std::vector<Contender>& contenders, std::optional<std::size_t> only)
{
    for (Contender& contender : contenders) {
        for (std::size_t l = 0; l < contender.lanes.size(); ++l) {
            if (only && *only != l) {
                continue;
            }
            Lane& lane = contender.lanes[l];
            lane.calls.clear();
            for (std::size_t set = 0; set < area.sets() && contender.out.empty(); ++set) {
                auto call = entryCall(m_context, *lane.runner, area, set, contender.workspaceBytes);
                if (!call && contender.kind == Contender::Kind::Candidate) {
                    return std::unexpected(call.error());
                }
                if (!call) {
                    contender.out = call.error().reason;
                    break;
                }
                lane.calls.push_back(std::move(*call));
            }
        }
    }
    return {};
}

/// A first block of two calls in every process: loads code, touches memory, and tells how long a call takes.
Judged<std::size_t> Timer::pilot(const CasePlan& plan, std::vector<Contender>& contenders)
{
    std::uint64_t workspace = 0;
    for (const Contender& contender : contenders) {
        workspace = std::max(workspace, contender.workspaceBytes);
    }
    ESPALIER_TRY(WorkArea area,
                 orInfrastructure(WorkArea::create(m_context.device(), m_context.buffers, plan, fewestCalls, workspace,
                                                   0, !m_context.session.exactGrants())));
    ESPALIER_CHECK(enter(area, contenders));
    double microseconds = 0;
    const std::string during = fmt::format("warm-up of case {}", plan.id);
    for (Contender& contender : contenders) {
        for (Lane& lane : contender.lanes) {
            if (!contender.out.empty()) {
                break;
            }
            for (std::size_t set = 0; set < area.sets(); ++set) {
                ESPALIER_CHECK(orInfrastructure(area.drawInputs(set)));
                ESPALIER_CHECK(orInfrastructure(area.poisonOutputs(set, Before::Noise)));
            }
            ESPALIER_CHECK(orInfrastructure(area.poisonWorkspace()));
            auto facts =
                runCalls(m_context, *lane.runner, lane.calls, cold(), m_context.runners.deadlines().call, during);
            if (contender.kind == Contender::Kind::Candidate) {
                ESPALIER_CHECK(facts);
                // Once more for the time: first calls touch memory that was never touched. On new inputs: a kept answer
                // would tell how short a call is, and not how long.
                for (std::size_t set = 0; set < area.sets(); ++set) {
                    ESPALIER_CHECK(orInfrastructure(area.drawInputs(set)));
                }
                ESPALIER_TRY(const BlockFacts warm, runCalls(m_context, *lane.runner, lane.calls, cold(),
                                                             m_context.runners.deadlines().call, during));
                const auto& calls = warm.block.clock.calls;
                microseconds = std::min(calls.front().eventMicroseconds, calls.back().eventMicroseconds);
            } else if (!facts) {
                if (facts.error().cause == NotRunCause::Cancelled) {
                    return std::unexpected(facts.error());
                }
                contender.out = facts.error().reason;
            }
        }
    }
    ESPALIER_TRY(const std::optional<LaunchCount> captured,
                 replayCaptured(m_context, m_oracle, *contenders[0].lanes[0].runner, area, 0,
                                contenders[0].workspaceBytes));
    m_context.buffers.release();
    m_graph = !serves() && microseconds < graphBelowUs && captured;
    const std::size_t calls = callsPerBlock(microseconds);
    ESPALIER_TRY(const DeviceMemory memory, orInfrastructure(m_context.device().memory()));
    const std::uint64_t perSet = plan.bytesPerSet() + 1;
    const auto affordable = static_cast<std::size_t>(memory.freeBytes / 10 * 6 / perSet) + fewestCalls;
    return std::min(calls, affordable);
}

Judged<void> Timer::captureAll(std::vector<Contender>& contenders)
{
    for (Contender& contender : contenders) {
        for (Lane& lane : contender.lanes) {
            if (!contender.out.empty()) {
                break;
            }
            auto graph =
                lane.runner->process->capture(lane.calls, m_context.runners.deadlines().call, m_context.interrupts);
            const bool candidate = contender.kind == Contender::Kind::Candidate;
            if (!graph && (candidate || graph.error().loss == Loss::Cancelled)) {
                return std::unexpected(verdictOf(graph.error(), "the capture of a block of calls"));
            }
            const std::string why = !graph               ? graph.error().text
                                    : graph->status != 0 ? "a call returned " + cudaErrorText(graph->status)
                                                         : graph->error;
            if (!why.empty() && candidate) {
                return rejected(Outcome::Suspicious, "capture",
                                fmt::format("{} calls in a row cannot be captured into a CUDA graph: {}",
                                            lane.calls.size(), why));
            }
            if (!why.empty()) {
                contender.out = "its calls cannot be captured into a CUDA graph: " + why;
                continue;
            }
            // A graph's first launch also uploads it.
            const auto first =
                lane.runner->process->replay(false, m_context.runners.deadlines().call, m_context.interrupts);
            if (!first && (candidate || first.error().loss == Loss::Cancelled)) {
                return std::unexpected(verdictOf(first.error(), "the first replay of a block of calls"));
            }
            contender.out = first ? "" : first.error().text;
        }
    }
    return {};
}

Judged<ClockedBlock> Timer::replayBlock(const Contender& contender, const Lane& lane, const std::string& during)
{
    const auto replayed =
        lane.runner->process->replay(cold(), m_context.runners.deadlines().call, m_context.interrupts);
    if (!replayed) {
        return std::unexpected(verdictOf(replayed.error(), during));
    }
    if (replayed->clock.calls.size() != 1) {
        return rejected(Outcome::RuntimeFailed, "protocol", fmt::format("answered no time during {}", during));
    }
    ClockedBlock clocked = clockBlock(*lane.runner->process, *replayed, cold()); // one event pair around all calls
    trace(contender, during, *replayed, clocked);
    const double calls = static_cast<double>(lane.calls.size());
    clocked.events[0] /= calls;
    clocked.median /= calls;
    clocked.endToEnd /= calls;
    return clocked;
}

Judged<ClockedBlock> Timer::directBlock(WorkArea& area, const Contender& candidate, TimingRecord& record)
{
    const Lane& lane = candidate.lanes[0];
    for (std::size_t set = 0; set < area.sets(); ++set) {
        ESPALIER_CHECK(orInfrastructure(area.drawInputs(set)));
    }
    ESPALIER_TRY(const std::vector<Before> before, poison(area, true));
    const std::string during = fmt::format("a block of direct calls of case {}", area.plan().id);
    ESPALIER_TRY(const BlockFacts facts, runCalls(m_context, *lane.runner, lane.calls, cold(),
                                                  m_context.runners.deadlines().call, during));
    record.timedCalls += static_cast<int>(area.sets());
    ESPALIER_CHECK(checkBlock(area, before, record));
    return clockBlock(*lane.runner->process, facts.block, cold());
}

Judged<void> Timer::checkBlock(WorkArea& area, const std::vector<Before>& before, TimingRecord& record)
{
    if (!stands(Defence::TimedChecks)) {
        return {};
    }
    const CasePlan& plan = area.plan();
    const std::string where = fmt::format("a timed block of case {}", plan.id);
    std::vector<std::size_t> sets(area.sets());
    std::iota(sets.begin(), sets.end(), 0);
    for (const std::size_t set : sets) {
        ESPALIER_CHECK(Verifier::judgeDamage(area, set, where));
    }
    const std::size_t outputs =
        static_cast<std::size_t>(std::count_if(plan.arguments.begin(), plan.arguments.end(),
                                               [](const ArgumentPlan& argument) { return argument.isOutput(); }));
    const std::size_t perOutput =
        std::clamp<std::size_t>(std::size_t{64} / (sets.size() * std::max<std::size_t>(outputs, 1)), 1, 8);
    const std::vector<Window> windows = m_oracle.sample(area, sets, perOutput);
    ESPALIER_TRY(const std::vector<OutputTally> tallies, m_oracle.compare(area, windows));
    for (std::size_t w = 0; w < windows.size(); ++w) {
        if (auto verdict =
                OracleComparison::judge(plan, windows[w].argument, tallies[w], before[windows[w].set], where)) {
            return std::unexpected(std::move(*verdict));
        }
    }
    record.checkedCalls += static_cast<int>(sets.size());
    std::mt19937_64 random(randomSeed());
    while (record.fullyCompared < fullyComparedShare * record.timedCalls) {
        const std::size_t set = random() % sets.size();
        ESPALIER_TRY(const std::vector<OutputTally> whole, m_oracle.compareWhole(area, set));
        for (std::size_t a = 0; a < whole.size(); ++a) {
            if (!plan.arguments[a].isOutput()) {
                continue;
            }
            if (auto verdict = OracleComparison::judge(plan, a, whole[a], before[set], where)) {
                return std::unexpected(std::move(*verdict));
            }
        }
        ++record.fullyCompared;
    }
    return {};
}

Judged<std::vector<Before>> Timer::poison(WorkArea& area, bool first)
{
    std::vector<Before> before;
    for (std::size_t set = 0; set < area.sets(); ++set) {
        before.push_back(beforeOf(m_random, first));
        ESPALIER_CHECK(orInfrastructure(area.poisonOutputs(set, before.back())));
    }
    ESPALIER_CHECK(orInfrastructure(area.poisonWorkspace()));
    return before;
}

/// Calls arrive at random times, each in a message of its own; what counts is the judge's clock from a call's arrival
/// to its answer. A call that arrives while the one before still runs waits, and the wait is part of its latency.
Judged<ClockedBlock> Timer::serve(const Lane& lane, const std::string& during)
{
    std::exponential_distribution<double> gap(m_setting.rate);
    ClockedBlock clocked;
    std::vector<double> launches;
    auto arrival = Clock::now();
    for (const runner::Call& call : lane.calls) {
        arrival += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(gap(m_random)));
        if (!awaitMoment(arrival, m_context.interrupts)) {
            return notRun(NotRunCause::Cancelled, "cancelled");
        }
        ESPALIER_TRY(const BlockFacts facts, runCalls(m_context, *lane.runner, {call}, cold(),
                                                      m_context.runners.deadlines().call, during, false));
        clocked.events.push_back(std::chrono::duration<double, std::micro>(Clock::now() - arrival).count());
        clocked.claimed += facts.block.clock.calls.at(0).eventMicroseconds;
        launches.push_back(facts.block.clock.calls.at(0).hostMicroseconds);
    }
    clocked.median = statistics::median(clocked.events);
    clocked.endToEnd = clocked.median;
    clocked.launch = statistics::median(launches);
    clocked.agrees = true; // nothing here is claimed: the judge's clock is the only one
    return clocked;
}

Judged<ClockedBlock> Timer::timeBlock(const Contender& contender, const Lane& lane, const std::string& during)
{
    if (serves()) {
        return serve(lane, during);
    }
    if (m_graph) {
        return replayBlock(contender, lane, during);
    }
    ESPALIER_TRY(const BlockFacts facts, runCalls(m_context, *lane.runner, lane.calls, cold(),
                                                  m_context.runners.deadlines().call, during));
    ClockedBlock clocked = clockBlock(*lane.runner->process, facts.block, cold());
    trace(contender, during, facts.block, clocked);
    return clocked;
}

bool Timer::take(Contender& contender, const ClockedBlock& clocked, BlockConditions& conditions)
{
    contender.fastestSmMhz = std::max(contender.fastestSmMhz, conditions.smMhz);
    conditions.medianUs = clocked.median;
    conditions.dropped = disturbance(conditions, contender.fastestSmMhz);
    const bool counts = contender.ledger.add(clocked, conditions.dropped);
    if (!counts && conditions.dropped.empty()) {
        conditions.dropped = "clocks disagree";
    }
    return counts;
}

Judged<void> Timer::timeCandidate(WorkArea& area, Contender& candidate, Lane& lane, bool first, bool repeat,
                                  Gathered& gathered, TimingRecord& record)
{
    const std::string during = fmt::format("a timed block of case {}", area.plan().id);
    std::optional<double> unseen;
    for (int use = 0; use < (repeat ? 2 : 1); ++use) {
        ESPALIER_TRY(const std::vector<Before> before, poison(area, first && use == 0));
        ESPALIER_TRY(const ClockedBlock clocked, timeBlock(candidate, lane, during));
        BlockConditions conditions = m_monitor.read();
        conditions.runner = static_cast<int>(&lane - candidate.lanes.data());
        record.timedCalls += static_cast<int>(area.sets());
        ESPALIER_CHECK(checkBlock(area, before, record));
        if (use == 0) {
            const bool counts = take(candidate, clocked, conditions);
            lane.blocks.push_back(counts ? std::optional(clocked.median) : std::nullopt);
            unseen = lane.blocks.back();
            gathered.conditions.push_back(std::move(conditions));
        } else if (unseen && clocked.agrees && clocked.median > 0 &&
                   disturbance(conditions, candidate.fastestSmMhz).empty()) {
            gathered.unseenOverSeen.push_back(*unseen / clocked.median);
        }
    }
    return {};
}

Judged<void> Timer::round(WorkArea& area, std::vector<Contender>& contenders, const std::vector<std::size_t>& order,
                          int number, Gathered& gathered, TimingRecord& record)
{
    for (std::size_t set = 0; set < area.sets(); ++set) {
        ESPALIER_CHECK(orInfrastructure(area.drawInputs(set)));
    }
    const std::size_t laneIndex = static_cast<std::size_t>((number - 1) / 2) % contenders[0].lanes.size();
    const bool repeat = number == 2 || number == 3 || number % 4 == 0;
    if (!m_graph) {
        ESPALIER_CHECK(enter(area, contenders, laneIndex)); // other probes
    }
    bool first = true;
    for (const std::size_t index : order) {
        Contender& contender = contenders[index];
        if (!contender.out.empty()) {
            continue;
        }
        Lane& lane = contender.lanes[laneIndex];
        if (contender.kind == Contender::Kind::Candidate) {
            ESPALIER_CHECK(timeCandidate(area, contender, lane, first, repeat, gathered, record));
            first = false;
            continue;
        }
        ESPALIER_CHECK(poison(area, first));
        first = false;
        const auto clocked = timeBlock(contender, lane, fmt::format("a timed block of case {}", area.plan().id));
        if (!clocked) {
            if (clocked.error().cause == NotRunCause::Cancelled) {
                return std::unexpected(clocked.error());
            }
            contender.out = clocked.error().reason;
            continue;
        }
        BlockConditions conditions = m_monitor.read();
        const bool counts = take(contender, *clocked, conditions);
        lane.blocks.push_back(counts ? std::optional(clocked->median) : std::nullopt);
    }
    return {};
}

/// Alternating blocks until the stopping rule is content.
Judged<CaseTiming> Timer::race(WorkArea& area, std::vector<Contender>& contenders, double budgetSeconds,
                               TimingRecord& record)
{
    const auto start = Clock::now();
    auto last = start;
    const CasePlan& plan = area.plan();
    const StoppingCriterion stop = criterion(contenders[0].lanes.size(), budgetSeconds);
    Gathered gathered;
    std::vector<std::size_t> order(contenders.size());
    std::iota(order.begin(), order.end(), 0);
    for (int rounds = 1;; ++rounds) {
        if (rounds % 2 == 1) {
            std::shuffle(order.begin(), order.end(), m_random);
        } else {
            std::reverse(order.begin(), order.end()); // A B, then B A, in the same processes
        }
        ESPALIER_CHECK(round(area, contenders, order, rounds, gathered, record));
        CaseTiming timing = summarise(plan, contenders, gathered);
        const Interval& leading = timing.speedupParent ? *timing.speedupParent
                                  : timing.speedupRoot ? *timing.speedupRoot
                                                       : timing.timeUs;
        const auto decision = stop.decide(timing.blocks, statistics::relativeHalfWidth(leading), secondsSince(start));
        const bool hopeless = rounds >= stop.maximumBlocks || secondsSince(start) > 4 * stop.budgetSeconds;
        if (decision != StoppingCriterion::Decision::Continue || hopeless) {
            const bool content = decision == StoppingCriterion::Decision::Interval;
            timing.stoppedBy = nameOf(content ? decision : StoppingCriterion::Decision::Budget);
            if (const auto complaint = memoComplaint(gathered.unseenOverSeen)) {
                return rejected(Outcome::Suspicious, "memo", fmt::format("case {}: {}", plan.id, *complaint));
            }
            return timing;
        }
        if (onProgress && secondsSince(last) > 1) {
            last = Clock::now();
            onProgress(fmt::format("case {}: {} blocks, ±{:.2f} %", plan.id, timing.blocks,
                                   100 * statistics::relativeHalfWidth(leading)));
        }
    }
}

Judged<CaseTiming> Timer::time(const CasePlan& plan, std::vector<Contender>& contenders, double budgetSeconds,
                               TimingRecord& record)
{
    const auto begin = Clock::now();
    ESPALIER_TRY(const std::size_t calls, pilot(plan, contenders));
    std::uint64_t workspace = 0;
    for (const Contender& contender : contenders) {
        workspace = std::max(workspace, contender.workspaceBytes);
    }
    ESPALIER_TRY(WorkArea area,
                 orInfrastructure(WorkArea::create(m_context.device(), m_context.buffers, plan, calls, workspace, 0,
                                                   !m_context.session.exactGrants(),
                                                   m_graph ? Probing::None : Probing::Timed)));
    ESPALIER_CHECK(enter(area, contenders));
    ClockedBlock direct;
    if (m_graph) {
        ESPALIER_TRY(direct, directBlock(area, contenders[0], record));
        ESPALIER_CHECK(captureAll(contenders)); // a graph holds addresses, and those stay
    }
    const double warmUp = secondsSince(begin);
    record.phaseSeconds["warm-up"] += warmUp;
    ESPALIER_TRY(CaseTiming timing, race(area, contenders, budgetSeconds, record));
    if (contenders[0].ledger.unusable()) { // once more before anything is said
        for (Contender& contender : contenders) {
            contender.ledger = {};
            for (Lane& lane : contender.lanes) {
                lane.blocks.clear();
            }
        }
        ESPALIER_TRY(timing, race(area, contenders, budgetSeconds, record));
    }
    record.phaseSeconds["blocks"] += secondsSince(begin) - warmUp;
    m_context.buffers.release();
    if (m_graph) {
        timing.method = "graph";
        timing.launchUs = direct.launch;
        timing.endToEndUs = direct.endToEnd;
    }
    const BlockLedger& ledger = contenders[0].ledger;
    std::optional<double> reference;
    bool disturbed = false; // an honest rival's clocks disagree as well: that is the machine, and nobody lies
    for (const Contender& contender : contenders) {
        const bool honest = contender.kind == Contender::Kind::Root || contender.kind == Contender::Kind::Baseline;
        disturbed |= honest && contender.out.empty() && contender.ledger.unusable();
        if (honest && contender.out.empty() && contender.ledger.kept() > 0) {
            reference = std::max(reference.value_or(0), contender.ledger.medianResidual());
        }
    }
    const std::optional<std::string> complaint = ledger.complaint(reference);
    if (complaint && !disturbed) {
        return rejected(Outcome::Suspicious, "clock", fmt::format("case {}: {}", plan.id, *complaint));
    }
    if (ledger.unusable() || complaint) {
        std::vector<std::string> reasons;
        for (const auto& [reason, count] : ledger.droppedBecause()) {
            reasons.push_back(fmt::format("{}: {}", reason, count));
        }
        return notRun(NotRunCause::Infrastructure,
                      fmt::format("no measurement of case {}: {} of {} blocks were disturbed ({}); free the machine and "
                                  "its GPU of other work and let it cool",
                                  plan.id, ledger.dropped(), ledger.dropped() + ledger.kept(),
                                  fmt::join(reasons, ", ")));
    }
    ESPALIER_CHECK(checkFloor(plan, timing));
    return timing;
}

Judged<void> Timer::checkFloor(const CasePlan& plan, const CaseTiming& timing) const
{
    const double floor = m_floors.physicalUs(plan, cold()) * physicalSlack;
    if (floor > 0 && timing.timeUs.value < floor && stands(Defence::PhysicalFloor)) {
        return rejected(Outcome::Suspicious, "floor",
                        fmt::format("case {} took {:.4g} us, but moving its bytes and doing its arithmetic once takes "
                                    "this device at least {:.4g} us",
                                    plan.id, timing.timeUs.value, floor));
    }
    return {};
}

CaseTiming Timer::summarise(const CasePlan& plan, const std::vector<Contender>& contenders,
                            const Gathered& gathered) const
{
    const auto blocksOf = [](const Contender& contender) {
        std::vector<statistics::Blocks> blocks;
        for (const Lane& lane : contender.lanes) {
            blocks.push_back(lane.blocks);
        }
        return blocks;
    };
    // What a process adds to device times is known from measurements; of latencies nothing is.
    const statistics::ProcessNoise noise = serves() ? statistics::ProcessNoise{} : statistics::measuredProcessNoise;
    CaseTiming timing;
    timing.caseId = plan.id;
    timing.provenance = Provenance::Measured;
    timing.goalFloorUs = m_floors.goalUs(plan);
    const BlockLedger& own = contenders[0].ledger;
    const std::vector<statistics::Blocks> candidate = blocksOf(contenders[0]);
    timing.blocks = own.kept();
    timing.timeUs = statistics::timeOver(candidate, noise, bootstrapSeed);
    timing.samplesUs = own.samples();
    timing.samples = static_cast<int>(timing.samplesUs.size());
    timing.dropped = own.dropped();
    timing.droppedBecause = own.droppedBecause();
    timing.conditions = gathered.conditions;
    timing.runners = static_cast<int>(candidate.size());
    timing.launchUs = own.medianLaunch();
    timing.endToEndUs = own.medianEndToEnd();
    timing.unseenOverSeen = statistics::median(gathered.unseenOverSeen);
    if (serves()) {
        timing.latency = latencyOf(own.samples());
    }
    for (std::size_t i = 1; i < contenders.size(); ++i) {
        const Contender& rival = contenders[i];
        if (!rival.out.empty() || rival.ledger.kept() == 0) {
            continue;
        }
        const std::vector<statistics::Blocks> blocks = blocksOf(rival);
        const Interval ratio = statistics::speedupOver(blocks, candidate, noise, bootstrapSeed);
        if (!(ratio.value > 0)) {
            continue; // no round counts for both
        }
        timing.rivalTimeUs[rival.id] = statistics::timeOver(blocks, noise, bootstrapSeed).value;
        if (serves()) {
            timing.rivalLatency[rival.id] = latencyOf(rival.ledger.samples());
        }
        switch (rival.kind) {
        case Contender::Kind::Root:
            timing.speedupRoot = ratio;
            break;
        case Contender::Kind::Parent:
            timing.speedupParent = ratio;
            break;
        case Contender::Kind::Incumbent:
            timing.speedupIncumbent = ratio;
            break;
        case Contender::Kind::Baseline:
            timing.speedupBaselines[rival.id] = ratio;
            break;
        case Contender::Kind::Candidate:
            break;
        }
    }
    return timing;
}

std::optional<std::string> memoComplaint(std::vector<double> unseenOverSeen)
{
    constexpr std::size_t fewest = 2;
    // The lower quartile: one odd block is no evidence.
    if (unseenOverSeen.size() < fewest || statistics::quantile(unseenOverSeen, 0.25) <= memoRatio) {
        return std::nullopt;
    }
    return fmt::format("with inputs that it had seen before it took 1/{:.2f} of the time that new ones took; only a "
                       "kept answer can be faster the second time",
                       statistics::medianInPlace(unseenOverSeen));
}

std::vector<Evidence> reviewOf(const CaseTiming& timing, const std::vector<std::string>& vendor, bool cold)
{
    std::vector<Evidence> review;
    const double share = timing.timeUs.value > 0 ? timing.goalFloorUs / timing.timeUs.value : 0;
    if (cold && share > nearPeak) {
        review.push_back({"review", fmt::format("case {} reaches {:.0f} % of the peak that was measured on this "
                                                "device: look at the kernel before you believe it",
                                                timing.caseId, 100 * share)});
    }
    for (const std::string& id : vendor) {
        const auto found = timing.speedupBaselines.find(id);
        if (found != timing.speedupBaselines.end() && found->second.low > farBeyondVendor) {
            review.push_back({"review", fmt::format("case {} is {:.2f} times as fast as the vendor's library ({}): look "
                                                    "at the kernel before you believe it",
                                                    timing.caseId, found->second.value, id)});
        }
    }
    return review;
}

void completeObjective(const Task& task, const std::vector<CasePlan>& plans, TimingRecord& record)
{
    std::vector<statistics::Weighted> times, roots, parents, incumbents;
    std::vector<std::string> guarded;
    for (const CaseTiming& timing : record.cases) {
        const auto plan =
            std::find_if(plans.begin(), plans.end(), [&](const CasePlan& p) { return p.id == timing.caseId; });
        const double weight = plan == plans.end() ? 1 : plan->weight;
        times.push_back({timing.timeUs, weight});
        // Without an incumbent beside it, the root serves the operation today.
        const auto& today = timing.speedupIncumbent ? timing.speedupIncumbent : timing.speedupRoot;
        const double slowdown = today && today->value > 0 ? 1 / today->value : 0;
        if (task.objective.guard && slowdown > *task.objective.guard) {
            guarded.push_back(fmt::format("case {} takes {:.3g} times as long as the {}", timing.caseId, slowdown,
                                          timing.speedupIncumbent ? "incumbent" : "root"));
        }
        if (timing.speedupRoot) {
            roots.push_back({*timing.speedupRoot, weight});
        }
        if (timing.speedupParent) {
            parents.push_back({*timing.speedupParent, weight});
        }
        if (timing.speedupIncumbent) {
            incumbents.push_back({*timing.speedupIncumbent, weight});
        }
    }
    if (!guarded.empty()) {
        record.guardBroken =
            fmt::format("{}; the objective allows {:g}", fmt::join(guarded, ", "), *task.objective.guard);
    }
    record.objectiveUs =
        task.objective.geometricMean ? statistics::geometricMean(times) : statistics::arithmeticMean(times);
    // A ratio over several cases is a geometric mean whatever the objective: a few huge ratios must not carry it.
    if (roots.size() == times.size()) {
        record.speedupRoot = statistics::geometricMean(roots);
    }
    if (parents.size() == times.size()) {
        record.speedupParent = statistics::geometricMean(parents);
    }
    if (incumbents.size() == times.size()) {
        record.speedupIncumbent = statistics::geometricMean(incumbents);
    }
}

} // namespace espalier::judge
