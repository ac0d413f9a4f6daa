// SPDX-License-Identifier: Apache-2.0
#include "core/judge/graph_replay.h"

#include "core/base/hash.h"
#include "core/judge/verifier.h"

#include <fmt/format.h>

namespace espalier::judge {

namespace {

Judged<void> prepare(WorkArea& area, std::size_t set, Before before)
{
    ESPALIER_CHECK(orInfrastructure(area.drawInputs(set)));
    ESPALIER_CHECK(orInfrastructure(area.poisonOutputs(set, before)));
    return orInfrastructure(area.poisonWorkspace());
}

Judged<LaunchCount> capture(const Context& context, LoadedRunner& runner, const runner::Call& call,
                            const std::string& caseId)
{
    auto graph = runner.process->capture({call}, context.runners.deadlines().call, context.interrupts);
    if (!graph) {
        return std::unexpected(verdictOf(graph.error(), fmt::format("the capture of a call of case {}", caseId)));
    }
    ESPALIER_CHECK(orNoMemory(graph->status, fmt::format("the capture of a call of case {}", caseId)));
    if (!graph->error.empty() || graph->status != 0) {
        const std::string why = graph->status != 0 ? "the call returned " + cudaErrorText(graph->status) : graph->error;
        return rejected(
            Outcome::Suspicious, "capture",
            fmt::format("a call of case {} cannot be captured into a CUDA graph ({}); the contract asks that "
                        "all work is joined to the given stream and nothing synchronises",
                        caseId, why));
    }
    const LaunchCount count{caseId, static_cast<int>(graph->kernels), static_cast<int>(graph->copies),
                            static_cast<int>(graph->memsets)};
    if (graph->hosts > 0) {
        return rejected(Outcome::Suspicious, "capture",
                        fmt::format("a call of case {} puts {} host functions on the stream; kernels, copies and fills "
                                    "are allowed",
                                    caseId, graph->hosts));
    }
    return count;
}

/// What is wrong with the outputs of `set`, if anything.
Judged<std::optional<Verdict>> findWrong(OracleComparison& oracle, WorkArea& area, std::size_t set, Before before,
                                         const std::string& where)
{
    ESPALIER_CHECK(Verifier::judgeDamage(area, set, where));
    ESPALIER_TRY(const std::vector<OutputTally> tallies, oracle.compareWhole(area, set));
    for (std::size_t a = 0; a < tallies.size(); ++a) {
        if (area.plan().arguments[a].isOutput()) {
            if (auto wrong = OracleComparison::judge(area.plan(), a, tallies[a], before, where)) {
                return wrong;
            }
        }
    }
    return std::nullopt;
}

} // namespace

Judged<LaunchCount> replayCaptured(const Context& context, OracleComparison& oracle, LoadedRunner& runner,
                                   WorkArea& area, std::size_t set, std::uint64_t workspaceBytes)
{
    const CasePlan& plan = area.plan();
    ESPALIER_CHECK(prepare(area, set, Before::Noise));
    ESPALIER_TRY(runner::Call call, entryCall(context, runner, area, set, workspaceBytes));
    call.snapshots.clear(); // a graph is one call: nothing follows it that could look too early
    ESPALIER_TRY(const LaunchCount count, capture(context, runner, call, plan.id));
    const Before before = randomSeed() % 2 == 0 ? Before::Noise : Before::NaN;
    const auto deadline = context.runners.deadlines().call;
    ESPALIER_CHECK(prepare(area, set, before));
    area.forgetProbes(set);
    const std::string replay = fmt::format("the replay of a captured call of case {}", plan.id);
    if (const auto replayed = runner.process->replay(true, deadline, context.interrupts); !replayed) {
        return std::unexpected(verdictOf(replayed.error(), replay));
    }
    ESPALIER_TRY(const std::optional<Verdict> wrong, findWrong(oracle, area, set, before, replay));
    if (!wrong) {
        return count;
    }
    const std::string directly = fmt::format("a call of case {}", plan.id);
    ESPALIER_CHECK(prepare(area, set, before));
    area.forgetProbes(set);
    ESPALIER_CHECK(runCalls(context, runner, {call}, true, deadline, directly));
    ESPALIER_TRY(std::optional<Verdict> wrongAnyway, findWrong(oracle, area, set, before, directly));
    if (wrongAnyway) {
        return std::unexpected(std::move(*wrongAnyway));
    }
    return rejected(Outcome::Suspicious, "capture",
                    wrong->reason + "; a direct call was right: work on another stream or thread, on the host, or kept "
                                    "from the capture is missing from the graph");
}

} // namespace espalier::judge
