// SPDX-License-Identifier: Apache-2.0
#include "core/judge/timer.h"

#include "core/analysis/statistics.h"
#include "core/base/hash.h"
#include "core/judge/graph_replay.h"
#include "core/judge/verifier.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <numeric>
#include <random>

namespace espalier::judge {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t fewestCalls = 2;
constexpr double fullyComparedShare = 0.1;
constexpr double physicalSlack = 0.98;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// B: how many calls make a block long enough to be timed, memory and messages permitting.
std::size_t callsPerBlock(double microseconds, Tier tier)
{
    const double blockTime = tier == Tier::Full ? 8000 : 2500; // the quick tier pays for preparing every buffer set
    constexpr std::size_t most = 32;
    const double calls = std::ceil(blockTime / std::max(microseconds, 1.0));
    return std::clamp(static_cast<std::size_t>(calls), fewestCalls, most);
}

/// What stands in the outputs before a block. The previous answer is a trap only for the first of a round: after it the
/// outputs hold the right answers to these very inputs.
Before beforeOf(std::mt19937_64& random, bool first)
{
    constexpr std::array all = {Before::Noise, Before::NaN, Before::PreviousAnswer, Before::Inverted};
    return all[random() % (first ? 4 : 2)];
}

/// Paired times of the rounds that count for both.
struct Pairs {
    std::vector<double> rival, candidate;
};

Pairs pairsOf(const std::vector<std::optional<double>>& rival, const std::vector<std::optional<double>>& candidate)
{
    Pairs pairs;
    for (std::size_t i = 0; i < std::min(rival.size(), candidate.size()); ++i) {
        if (rival[i] && candidate[i]) {
            pairs.rival.push_back(*rival[i]);
            pairs.candidate.push_back(*candidate[i]);
        }
    }
    return pairs;
}

/// With ESPALIER_TRACE_CLOCK set, every block's clocks go to stderr: what to look at when blocks are dropped.
void trace(const Contender& contender, const std::string& caseId, const RunnerProcess::Block& block,
           const ClockedBlock& clocked)
{
    static const bool wanted = std::getenv("ESPALIER_TRACE_CLOCK") != nullptr;
    if (wanted) {
        fmt::print(stderr, "clock: {} {} calls {} wall {:.0f} claimed {:.0f} residual {:.0f} median {:.2f}{}\n", caseId,
                   contender.id, clocked.events.size(), block.wallMicroseconds, clocked.claimed, clocked.residual,
                   clocked.median, clocked.agrees ? "" : " dropped");
    }
}

constexpr std::uint64_t bootstrapSeed =
    0x45737061; // the interval of given samples must not depend on when it is computed

} // namespace

StoppingCriterion Timer::criterion() const
{
    StoppingCriterion criterion;
    if (m_tier == Tier::Quick) {
        criterion.minimumBlocks = 5;
        criterion.maximumBlocks = 30;
        criterion.halfWidth = 0.01;
        criterion.budgetSeconds = 0.3;
    } else {
        criterion.minimumBlocks = 30;
        criterion.maximumBlocks = 400;
        criterion.halfWidth = 0.005;
        criterion.budgetSeconds = 20;
    }
    return criterion;
}

Judged<void> Timer::enter(const WorkArea& area, std::vector<Contender>& contenders)
{
    for (Contender& contender : contenders) {
        if (!contender.out.empty()) {
            continue;
        }
        contender.calls.clear();
        for (std::size_t set = 0; set < area.sets(); ++set) {
            auto call = entryCall(m_context, *contender.runner, area, set, contender.workspaceBytes);
            if (!call && contender.kind == Contender::Kind::Candidate) {
                return std::unexpected(call.error());
            }
            if (!call) {
                contender.out = call.error().reason;
                break;
            }
            contender.calls.push_back(std::move(*call));
        }
    }
    return {};
}

/// A first block of two calls for everyone: loads code, touches memory, and tells how long a call takes.
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
    for (Contender& contender : contenders) {
        if (!contender.out.empty()) {
            continue;
        }
        for (std::size_t set = 0; set < area.sets(); ++set) {
            ESPALIER_CHECK(orInfrastructure(area.drawInputs(set)));
            ESPALIER_CHECK(orInfrastructure(area.poisonOutputs(set, Before::Noise)));
        }
        ESPALIER_CHECK(orInfrastructure(area.poisonWorkspace()));
        const std::string during = fmt::format("warm-up of case {}", plan.id);
        auto facts =
            runCalls(m_context, *contender.runner, contender.calls, true, m_context.runners.deadlines().call, during);
        if (contender.kind == Contender::Kind::Candidate) {
            ESPALIER_CHECK(facts);
            microseconds = facts->block.clock.calls.back().eventMicroseconds;
        } else if (!facts) {
            if (facts.error().cause == NotRunCause::Cancelled) {
                return std::unexpected(facts.error());
            }
            contender.out = facts.error().reason;
        }
    }
    ESPALIER_CHECK(replayCaptured(m_context, m_oracle, *contenders[0].runner, area, 0, contenders[0].workspaceBytes));
    m_context.buffers.release();
    std::size_t calls = callsPerBlock(microseconds, m_tier);
    ESPALIER_TRY(const DeviceMemory memory, orInfrastructure(m_context.device().memory()));
    const std::uint64_t perSet = plan.bytesPerSet() + 1;
    const auto affordable = static_cast<std::size_t>(memory.freeBytes / 10 * 6 / perSet) + fewestCalls;
    return std::min(calls, affordable);
}

Judged<void> Timer::checkBlock(WorkArea& area, const std::vector<Before>& before, TimingRecord& record)
{
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

Judged<void> Timer::round(WorkArea& area, std::vector<Contender>& contenders, const std::vector<std::size_t>& order,
                          TimingRecord& record)
{
    std::mt19937_64 random(randomSeed());
    for (std::size_t set = 0; set < area.sets(); ++set) {
        ESPALIER_CHECK(orInfrastructure(area.drawInputs(set)));
    }
    ESPALIER_CHECK(enter(area, contenders)); // other probes
    bool first = true;
    for (const std::size_t index : order) {
        Contender& contender = contenders[index];
        if (!contender.out.empty()) {
            continue;
        }
        std::vector<Before> before;
        for (std::size_t set = 0; set < area.sets(); ++set) {
            before.push_back(beforeOf(random, first));
            ESPALIER_CHECK(orInfrastructure(area.poisonOutputs(set, before.back())));
        }
        ESPALIER_CHECK(orInfrastructure(area.poisonWorkspace()));
        first = false;
        const std::string during = fmt::format("a timed block of case {}", area.plan().id);
        auto facts =
            runCalls(m_context, *contender.runner, contender.calls, true, m_context.runners.deadlines().call, during);
        if (contender.kind == Contender::Kind::Candidate) {
            ESPALIER_CHECK(facts);
            record.timedCalls += static_cast<int>(area.sets());
            ESPALIER_CHECK(checkBlock(area, before, record));
        } else if (!facts) {
            if (facts.error().cause == NotRunCause::Cancelled) {
                return std::unexpected(facts.error());
            }
            contender.out = facts.error().reason;
            continue;
        }
        const ClockedBlock clocked = clockBlock(*contender.runner->process, facts->block);
        trace(contender, area.plan().id, facts->block, clocked);
        contender.ledger.add(clocked);
    }
    return {};
}

/// Alternating blocks until the stopping rule is content.
Judged<CaseTiming> Timer::race(WorkArea& area, std::vector<Contender>& contenders, TimingRecord& record)
{
    const auto start = Clock::now();
    auto last = start;
    const CasePlan& plan = area.plan();
    const StoppingCriterion stop = criterion();
    std::mt19937_64 random(randomSeed());
    std::vector<std::size_t> order(contenders.size());
    std::iota(order.begin(), order.end(), 0);
    for (int rounds = 1;; ++rounds) {
        if (rounds % 2 == 1) {
            std::shuffle(order.begin(), order.end(), random);
        } else {
            std::reverse(order.begin(), order.end()); // A B, then B A
        }
        ESPALIER_CHECK(round(area, contenders, order, record));
        CaseTiming timing = summarise(plan, contenders);
        const Interval& leading = timing.speedupParent ? *timing.speedupParent
                                  : timing.speedupRoot ? *timing.speedupRoot
                                                       : timing.timeUs;
        const auto decision = stop.decide(timing.blocks, statistics::relativeHalfWidth(leading), secondsSince(start));
        const bool hopeless = rounds >= stop.maximumBlocks || secondsSince(start) > 4 * stop.budgetSeconds;
        if (decision != StoppingCriterion::Decision::Continue || hopeless) {
            const bool content = decision == StoppingCriterion::Decision::Interval;
            timing.stoppedBy = nameOf(content ? decision : StoppingCriterion::Decision::Budget);
            return timing;
        }
        if (onProgress && secondsSince(last) > 1) {
            last = Clock::now();
            onProgress(fmt::format("case {}: {} blocks, ±{:.2f} %", plan.id, timing.blocks,
                                   100 * statistics::relativeHalfWidth(leading)));
        }
    }
}

Judged<CaseTiming> Timer::time(const CasePlan& plan, std::vector<Contender>& contenders, TimingRecord& record)
{
    ESPALIER_TRY(const std::size_t calls, pilot(plan, contenders));
    std::uint64_t workspace = 0;
    for (const Contender& contender : contenders) {
        workspace = std::max(workspace, contender.workspaceBytes);
    }
    ESPALIER_TRY(WorkArea area,
                 orInfrastructure(WorkArea::create(m_context.device(), m_context.buffers, plan, calls, workspace, 0,
                                                   !m_context.session.exactGrants(), Probing::Timed)));
    ESPALIER_CHECK(enter(area, contenders));
    ESPALIER_TRY(CaseTiming timing, race(area, contenders, record));
    if (contenders[0].ledger.unusable()) { // once more before anything is said
        for (Contender& contender : contenders) {
            contender.ledger = {};
        }
        ESPALIER_TRY(timing, race(area, contenders, record));
    }
    m_context.buffers.release();
    const BlockLedger& ledger = contenders[0].ledger;
    std::optional<double> reference;
    for (const Contender& contender : contenders) {
        const bool honest = contender.kind == Contender::Kind::Root || contender.kind == Contender::Kind::Baseline;
        if (honest && contender.out.empty() && contender.ledger.kept() > 0) {
            reference = std::max(reference.value_or(0), contender.ledger.medianResidual());
        }
    }
    if (auto complaint = ledger.complaint(reference)) {
        return rejected(Outcome::Suspicious, "clock", fmt::format("case {}: {}", plan.id, *complaint));
    }
    if (ledger.unusable()) {
        return notRun(
            NotRunCause::Infrastructure,
            fmt::format(
                "no measurement of case {}: {} blocks were disturbed (the judge's clock and the device's events "
                "disagree); free the machine of other work",
                plan.id, timing.dropped));
    }
    ESPALIER_CHECK(checkFloor(plan, timing));
    return timing;
}

Judged<void> Timer::checkFloor(const CasePlan& plan, const CaseTiming& timing) const
{
    const double floor = m_floors.physicalUs(plan) * physicalSlack;
    if (floor > 0 && timing.timeUs.value < floor) {
        return rejected(Outcome::Suspicious, "floor",
                        fmt::format("case {} took {:.4g} us, but moving its bytes and doing its arithmetic once takes "
                                    "this device at least {:.4g} us",
                                    plan.id, timing.timeUs.value, floor));
    }
    return {};
}

CaseTiming Timer::summarise(const CasePlan& plan, const std::vector<Contender>& contenders) const
{
    CaseTiming timing;
    timing.caseId = plan.id;
    timing.provenance = Provenance::Measured;
    timing.goalFloorUs = m_floors.goalUs(plan);
    const BlockLedger& own = contenders[0].ledger;
    const auto& candidate = own.times();
    std::vector<double> blocks;
    for (const auto& time : candidate) {
        if (time) {
            blocks.push_back(*time);
        }
    }
    timing.blocks = static_cast<int>(blocks.size());
    timing.timeUs = statistics::medianInterval(blocks, bootstrapSeed);
    timing.samplesUs = own.samples();
    timing.samples = static_cast<int>(timing.samplesUs.size());
    timing.dropped = own.dropped();
    for (std::size_t i = 1; i < contenders.size(); ++i) {
        const Contender& rival = contenders[i];
        const Pairs pairs = pairsOf(rival.ledger.times(), candidate);
        if (!rival.out.empty() || pairs.rival.empty()) {
            continue;
        }
        const Interval ratio = statistics::ratioOfMedians(pairs.rival, pairs.candidate, bootstrapSeed);
        timing.rivalTimeUs[rival.id] = statistics::median(pairs.rival);
        switch (rival.kind) {
        case Contender::Kind::Root:
            timing.speedupRoot = ratio;
            break;
        case Contender::Kind::Parent:
            timing.speedupParent = ratio;
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

void completeObjective(const Task& task, const std::vector<CasePlan>& plans, TimingRecord& record)
{
    std::vector<statistics::Weighted> times, roots, parents;
    for (const CaseTiming& timing : record.cases) {
        const auto plan =
            std::find_if(plans.begin(), plans.end(), [&](const CasePlan& p) { return p.id == timing.caseId; });
        const double weight = plan == plans.end() ? 1 : plan->weight;
        times.push_back({timing.timeUs, weight});
        if (timing.speedupRoot) {
            roots.push_back({*timing.speedupRoot, weight});
        }
        if (timing.speedupParent) {
            parents.push_back({*timing.speedupParent, weight});
        }
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
}

} // namespace espalier::judge
