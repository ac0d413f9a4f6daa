// SPDX-License-Identifier: Apache-2.0
// How one block of calls is run and clocked: direct, as the replay of a graph, or as calls that arrive at random.
#include "core/judge/timer.h"

#include "core/analysis/statistics.h"
#include "core/judge/graph_replay.h"
#include "core/judge/verifier.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <poll.h>

namespace espalier::judge {

namespace {

using Clock = std::chrono::steady_clock;

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

} // namespace

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
            if (graph && candidate) {
                ESPALIER_CHECK(orNoMemory(graph->status, "the capture of a block of calls"));
            }
            const std::string why = !graph               ? graph.error().text
                                    : graph->status != 0 ? "a call returned " + cudaErrorText(graph->status)
                                                         : graph->error;
            if (!why.empty() && candidate) {
                return rejected(
                    Outcome::Suspicious, "capture",
                    fmt::format("{} calls in a row cannot be captured into a CUDA graph: {}", lane.calls.size(), why));
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
    ESPALIER_TRY(const BlockFacts facts,
                 runCalls(m_context, *lane.runner, lane.calls, cold(), m_context.runners.deadlines().call, during));
    record.timedCalls += static_cast<int>(area.sets());
    ESPALIER_CHECK(checkBlock(area, before, record));
    return clockBlock(*lane.runner->process, facts.block, cold());
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
    const auto count = static_cast<std::ptrdiff_t>(std::min(lane.calls.size(), contender.mostCalls));
    const std::vector<runner::Call> calls(lane.calls.begin(), lane.calls.begin() + count);
    ESPALIER_TRY(const BlockFacts facts,
                 runCalls(m_context, *lane.runner, calls, cold(), m_context.runners.deadlines().call, during));
    ClockedBlock clocked = clockBlock(*lane.runner->process, facts.block, cold());
    trace(contender, during, facts.block, clocked);
    return clocked;
}

} // namespace espalier::judge
