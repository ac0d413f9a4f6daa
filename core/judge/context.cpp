// SPDX-License-Identifier: Apache-2.0
#include "core/judge/context.h"

#include "core/base/text.h"
#include "core/judge/defences.h"

#include <array>
#include <fmt/format.h>
#include <utility>

namespace espalier::judge {

std::string cudaErrorText(int code)
{
    constexpr std::array names = {
        std::pair(1, "invalid value"),
        std::pair(2, "out of memory"),
        std::pair(9, "invalid launch configuration"),
        std::pair(98, "invalid device function"),
        std::pair(209, "no kernel image for this device"),
        std::pair(700, "illegal address"),
        std::pair(701, "too many resources requested for launch"),
        std::pair(710, "device assert"),
        std::pair(715, "illegal instruction"),
        std::pair(716, "misaligned address"),
        std::pair(719, "launch failure"),
        std::pair(720, "cooperative launch too large"),
        std::pair(801, "not supported"),
        std::pair(900, "stream capture unsupported"),
    };
    for (const auto& [number, name] : names) {
        if (number == code) {
            return fmt::format("CUDA error {} ({})", code, name);
        }
    }
    return fmt::format("CUDA error {}", code);
}

Judged<void> orNoMemory(int status, const std::string& during)
{
    constexpr int outOfMemory = 2; // cudaErrorMemoryAllocation
    if (status != outOfMemory) {
        return {};
    }
    return std::unexpected(
        Verdict{Outcome::NotRun,
                NotRunCause::Infrastructure,
                fmt::format("returned {} during {}: the device had no memory left for it; free some, or let "
                            "the kernel ask for less",
                            cudaErrorText(status), during),
                {},
                true});
}

std::string refusedLaunch(const BlockFacts& facts)
{
    const std::string& refused = facts.block.clock.refused;
    return refused.empty() ? std::string() : "; " + refused;
}

std::vector<std::string> entryNames(const std::string& entry)
{
    return {entry, entry + "_workspace"};
}

namespace {

/// Verdict on what simgpu saw of the calls, in order of what says most.
Judged<void> judgeCalls(const sim::BlockReport& report, const std::string& during)
{
    for (const sim::CallReport& call : report.calls) {
        if (!call.unsupported.empty()) {
            return notRun(NotRunCause::Unsupported,
                          fmt::format("the simulated device cannot run it: {}", fmt::join(call.unsupported, "; ")));
        }
        if (call.fault) {
            const sim::CallFault& fault = *call.fault;
            const std::string sentence = fmt::format("{} ({})", fault.sentence, during);
            return rejected(fault.hang ? Outcome::TimedOut : Outcome::RuntimeFailed, fault.hang ? "deadline" : "device",
                            sentence);
        }
        if (!call.misuse.empty()) {
            return rejected(
                Outcome::Suspicious, "contract",
                fmt::format("called {} during {}, which the contract forbids", fmt::join(call.misuse, ", "), during));
        }
        if (call.unjoined > 0) {
            return rejected(
                Outcome::Suspicious, "stream",
                fmt::format(
                    "left {} launch{} or copies outside the given stream when {} ended; join all work to the stream",
                    call.unjoined, call.unjoined == 1 ? "" : "es", during));
        }
    }
    if (report.stray > 0) {
        return rejected(
            Outcome::Suspicious, "stream",
            fmt::format("sent {} launches or copies outside of its calls (seen at {})", report.stray, during));
    }
    return {};
}

/// Whether the block came to its end as asked.
Judged<void> judgeEnd(const sim::BlockReport& report, std::size_t asked, const std::string& during)
{
    if (!report.disconnected.empty()) {
        return rejected(Outcome::RuntimeFailed, "protocol", fmt::format("{} during {}", report.disconnected, during));
    }
    if (!report.ended || report.calls.size() != asked) {
        return rejected(Outcome::RuntimeFailed, "protocol",
                        fmt::format("ended {} of {} calls during {}", report.calls.size(), asked, during));
    }
    return {};
}

} // namespace

Judged<BlockFacts> runCalls(const Context& context, LoadedRunner& runner, const std::vector<runner::Call>& calls,
                            bool displaceL2, std::chrono::milliseconds limit, const std::string& during, bool wake)
{
    const std::uint32_t client = runner.process->client();
    ESPALIER_CHECK(orInfrastructure(context.session.beginBlock(client)));
    auto block = runner.process->block(calls, displaceL2, limit, context.interrupts, wake);
    sim::BlockReport report;
    const bool ended = !block && (block.error().loss == Loss::Exited || block.error().loss == Loss::DeviceLost ||
                                  block.error().loss == Loss::Protocol);
    if (context.session.simulated() && (block || ended)) {
        // First what simgpu saw: a runner that died or a call that returned an error often did so because of it, and an
        // instruction the simulated device lacks is no fault of the candidate's.
        auto seen = context.session.finishBlock(client, limit);
        if (seen) {
            report = std::move(*seen);
            ESPALIER_CHECK(judgeCalls(report, during));
        } else if (block) {
            return std::unexpected(infrastructure(seen.error()));
        }
    }
    if (!block) {
        return std::unexpected(verdictOf(block.error(), during));
    }
    BlockFacts facts{std::move(*block), std::move(report)};
    facts.block.clock.refused = printable(facts.block.clock.refused, 1000); // a claim
    if (const std::string left = context.device().restoreState(); !left.empty() && !runner.process->trusted()) {
        return rejected(Outcome::Suspicious, "state", fmt::format("{} and left it so during {}", left, during));
    }
    ESPALIER_CHECK(orNoMemory(facts.block.clock.status, during));
    if (facts.block.clock.status != 0 && stands(Defence::ReturnValue)) {
        return rejected(Outcome::RuntimeFailed, "return",
                        fmt::format("returned {}{} during {}{}", cudaErrorText(facts.block.clock.status),
                                    calls.size() > 1 ? fmt::format(" in its call {}", facts.block.clock.failedCall + 1)
                                                     : std::string(),
                                    during, refusedLaunch(facts)));
    }
    if (context.session.simulated()) {
        ESPALIER_CHECK(judgeEnd(facts.report, calls.size(), during));
    }
    return facts;
}

namespace {

Judged<void> orVerdict(Asked<runner::CallValue> placed, runner::Call& call)
{
    if (!placed) {
        return std::unexpected(verdictOf(placed.error(), "mapping of its buffers"));
    }
    call.values.push_back(*placed);
    return {};
}

} // namespace

Judged<runner::Call> entryCall(const Context& context, LoadedRunner& runner, const WorkArea& area, std::size_t set,
                               std::uint64_t workspaceBytes)
{
    runner::Call call;
    const CasePlan& plan = area.plan();
    std::vector<runner::CallValue> places(plan.arguments.size());
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
        const ArgumentPlan& argument = plan.arguments[a];
        if (argument.kind == ArgumentKind::Scalar) {
            call.values.push_back(argument.scalar);
            continue;
        }
        const bool readOnly = argument.isInput() && stands(Defence::ReadOnlyInputs);
        const Grant access = readOnly ? Grant::ReadOnly : Grant::ReadWrite;
        const std::string name = fmt::format("{} {}", argument.isInput() ? "input" : "output", argument.name);
        ESPALIER_CHECK(
            orVerdict(runner.process->place(area.set(set).regions[a], access, name, context.interrupts), call));
        places[a] = call.values.back();
    }
    if (!area.set(set).probes.empty()) {
        runner::Call snapshots; // only its one value is used
        ESPALIER_CHECK(orVerdict(
            runner.process->place(area.snapshots(), Grant::ReadWrite, "snapshots", context.interrupts), snapshots));
        const runner::CallValue to = snapshots.values[0];
        for (const Probe& probe : area.set(set).probes) {
            const runner::CallValue& from = places[probe.argument];
            call.snapshots.push_back({from.slot, to.slot, from.bits + probe.first, to.bits + probe.at, probe.bytes});
        }
    }
    if (workspaceBytes > 0) {
        Region workspace = area.workspace();
        workspace.offset +=
            (workspace.bytes - workspaceBytes) / CasePlan::largestAlignment * CasePlan::largestAlignment;
        workspace.bytes = workspaceBytes;
        ESPALIER_CHECK(
            orVerdict(runner.process->place(workspace, Grant::ReadWrite, "workspace", context.interrupts), call));
    } else {
        call.values.push_back({runner::ValueKind::Null, 0, 0});
    }
    call.values.push_back({runner::ValueKind::I64, 0, workspaceBytes});
    call.values.push_back({runner::ValueKind::Stream, 0, 0});
    return call;
}

Judged<std::uint64_t> workspaceOf(const Context& context, LoadedRunner& runner, const CasePlan& plan)
{
    constexpr std::uint32_t function = 1;
    if ((runner.found & (std::uint64_t{1} << function)) == 0) {
        return 0;
    }
    runner::Call call;
    call.function = function;
    for (const ArgumentPlan& argument : plan.arguments) {
        if (argument.kind == ArgumentKind::Scalar) {
            call.values.push_back(argument.scalar);
        }
    }
    auto size = runner.process->size(call, context.runners.deadlines().call, context.interrupts);
    if (!size) {
        return std::unexpected(verdictOf(size.error(), fmt::format("the workspace query of case {}", plan.id)));
    }
    const std::uint64_t most = context.device().info().totalBytes / 2;
    if (*size > most) {
        return rejected(Outcome::RuntimeFailed, "workspace",
                        fmt::format("asks for a workspace of {} in case {}; the device allows {}", bytesText(*size),
                                    plan.id, bytesText(most)));
    }
    return *size;
}

} // namespace espalier::judge
