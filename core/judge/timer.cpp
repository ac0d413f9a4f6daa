// SPDX-License-Identifier: Apache-2.0
#include "core/judge/timer.h"

#include "core/analysis/statistics.h"
#include "core/judge/defences.h"
#include "core/judge/failed_call.h"
#include "core/judge/graph_replay.h"
#include "core/judge/verifier.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace espalier::judge {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t fewestCalls = 2;
constexpr double slowRival = 4; ///< times the candidate's time: its blocks have the fewest calls
constexpr double fullyComparedShare = 0.1;
constexpr double graphBelowUs = 10; ///< shorter calls are timed by replaying many of them as one graph

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
std::size_t Timer::callsPerBlock(double microseconds, std::uint64_t bytesPerSet) const
{
    constexpr double most = 32;
    if (serves()) {
        constexpr double blockSeconds = 0.1;
        return static_cast<std::size_t>(
            std::clamp(std::ceil(m_setting.rate * blockSeconds), static_cast<double>(fewestCalls), most));
    }
    // Preparing and comparing every buffer set costs more than timing it: both tiers must keep to their seconds.
    const bool full = m_tier == Tier::Full;
    const double blockTime = full ? 3000 : 2500;
    const double blockBytes =
        full ? 8e9 : 3e9; // a gigabyte takes an H200 about ten milliseconds to draw, poison and check
    constexpr double whateverTheBytes = 4;
    const double calls =
        std::min(std::ceil(blockTime / std::max(microseconds, 1.0)),
                 std::max(std::floor(blockBytes / static_cast<double>(bytesPerSet)), whateverTheBytes));
    return static_cast<std::size_t>(std::clamp(calls, static_cast<double>(fewestCalls), most));
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
            } else if (const auto& calls = facts->block.clock.calls;
                       std::min(calls.front().eventMicroseconds, calls.back().eventMicroseconds) >
                       slowRival * microseconds) {
                contender.mostCalls = fewestCalls;
            }
        }
    }
    std::optional<LaunchCount> captured;
    if (stands(Defence::GraphReplay)) {
        ESPALIER_TRY(captured, replayCaptured(m_context, m_oracle, *contenders[0].lanes[0].runner, area, 0,
                                              contenders[0].workspaceBytes));
    }
    m_context.buffers.release();
    m_graph = !serves() && microseconds < graphBelowUs && captured;
    const std::uint64_t perSet = plan.bytesPerSet() + 1;
    const std::size_t calls = callsPerBlock(microseconds, perSet);
    ESPALIER_TRY(const DeviceMemory memory, orInfrastructure(m_context.device().memory()));
    const auto affordable = static_cast<std::size_t>(memory.freeBytes / 10 * 6 / perSet) + fewestCalls;
    return std::min(calls, affordable);
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
            return std::unexpected(withRecipe(std::move(*verdict), area, windows[w].set, where));
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
                return std::unexpected(withRecipe(std::move(*verdict), area, set, where));
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
        conditions.contender = contender.id;
        conditions.runner = static_cast<int>(laneIndex);
        const bool counts = take(contender, *clocked, conditions);
        lane.blocks.push_back(counts ? std::optional(clocked->median) : std::nullopt);
        gathered.conditions.push_back(std::move(conditions));
    }
    return {};
}

/// Alternating blocks until the stopping rule is content.
Judged<CaseTiming> Timer::race(WorkArea& area, std::vector<Contender>& contenders, double budgetSeconds,
                               TimingRecord& record)
{
    const auto start = m_context.session.now();
    auto last = Clock::now();
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
        const double elapsed = std::chrono::duration<double>(m_context.session.now() - start).count();
        const double afterOneMore = elapsed + elapsed / rounds; // a round that would overrun the budget is not begun
        const auto decision = stop.decide(timing.blocks, statistics::relativeHalfWidth(leading), afterOneMore);
        const bool hopeless = rounds >= stop.maximumBlocks || elapsed > 4 * stop.budgetSeconds;
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

Judged<CaseTiming> Timer::time(const CasePlan& plan, std::vector<Contender>& contenders,
                               const std::function<double()>& budget, TimingRecord& record)
{
    const auto begin = Clock::now();
    ESPALIER_TRY(const std::size_t calls, pilot(plan, contenders));
    std::uint64_t workspace = 0;
    for (const Contender& contender : contenders) {
        workspace = std::max(workspace, contender.workspaceBytes);
    }
    ESPALIER_TRY(WorkArea area, orInfrastructure(WorkArea::create(m_context.device(), m_context.buffers, plan, calls,
                                                                  workspace, 0, !m_context.session.exactGrants(),
                                                                  m_graph ? Probing::None : Probing::Timed)));
    ESPALIER_CHECK(enter(area, contenders));
    ClockedBlock direct;
    if (m_graph) {
        ESPALIER_TRY(direct, directBlock(area, contenders[0], record));
        ESPALIER_CHECK(captureAll(contenders)); // a graph holds addresses, and those stay
    }
    const double warmUp = secondsSince(begin);
    record.phaseSeconds["warm-up"] += warmUp;
    ESPALIER_TRY(CaseTiming timing, race(area, contenders, budget(), record));
    if (contenders[0].ledger.unusable()) { // once more before anything is said
        for (Contender& contender : contenders) {
            contender.ledger = {};
            for (Lane& lane : contender.lanes) {
                lane.blocks.clear();
            }
        }
        ESPALIER_TRY(timing, race(area, contenders, budget(), record));
    }
    const double raced = secondsSince(begin);
    record.phaseSeconds["blocks"] += raced - warmUp;
    m_context.buffers.release();
    record.phaseSeconds["release"] += secondsSince(begin) - raced;
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
        auto none =
            notRun(NotRunCause::Infrastructure,
                   fmt::format("no measurement of case {}: {} of {} blocks were disturbed ({}); free the machine "
                               "and its GPU of other work and let it cool",
                               plan.id, ledger.dropped(), ledger.dropped() + ledger.kept(), fmt::join(reasons, ", ")));
        none.error().disturbed = disturbed || complaint;
        return none;
    }
    ESPALIER_CHECK(checkFloor(plan, timing));
    return timing;
}

} // namespace espalier::judge
