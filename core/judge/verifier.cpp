// SPDX-License-Identifier: Apache-2.0
#include "core/judge/verifier.h"

#include "core/base/hash.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace espalier::judge {

namespace {

/// Call by call: something that was never an answer, then an answer that is wrong now. Which of each kind is random.
Before beforeOf(int call)
{
    const bool coin = randomSeed() % 2 == 0;
    if (call % 2 == 0) {
        return coin ? Before::Noise : Before::NaN;
    }
    return coin ? Before::PreviousAnswer : Before::Inverted;
}

} // namespace

Judged<void> Verifier::judgeDamage(WorkArea& area, std::size_t set, const std::string& where)
{
    ESPALIER_TRY(const WorkArea::Damage damage, orInfrastructure(area.inspect(set)));
    ESPALIER_TRY(const std::vector<std::string> workspace, orInfrastructure(area.inspectWorkspace()));
    Verdict verdict{Outcome::RuntimeFailed, NotRunCause::None, {}, {}, false};
    for (const auto* list : {&damage.guards, &workspace}) {
        for (const std::string& what : *list) {
            verdict.evidence.push_back({"guard", fmt::format("{} in {}", what, where)});
        }
    }
    for (const std::string& what : damage.inputs) {
        verdict.outcome = Outcome::Suspicious; // the runner's mapping is read-only: this takes intent
        verdict.evidence.push_back({"inputs", fmt::format("{} in {}", what, where)});
    }
    if (verdict.evidence.empty()) {
        return {};
    }
    verdict.reason = verdict.evidence.back().sentence;
    return std::unexpected(std::move(verdict));
}

Judged<void> Verifier::runCall(WorkArea& area, int call, std::uint64_t workspaceBytes, Verified& verified,
                               std::vector<OutputTally>& tallies)
{
    const CasePlan& plan = area.plan();
    const std::size_t set = static_cast<std::size_t>(call / 2) % area.sets();
    const Before before = beforeOf(call);
    ESPALIER_CHECK(orInfrastructure(area.drawInputs(set)));
    ESPALIER_CHECK(orInfrastructure(area.poisonOutputs(set, before)));
    ESPALIER_CHECK(orInfrastructure(area.poisonWorkspace()));
    ESPALIER_TRY(const runner::Call entry, entryCall(m_context, m_candidate, area, set, workspaceBytes));
    const std::string where = fmt::format("call {} of case {}", call + 1, plan.id);
    const bool displace = !m_context.session.simulated(); // as in a timed block: the candidate must not tell them apart
    ESPALIER_TRY(const BlockFacts facts,
                 runCalls(m_context, m_candidate, {entry}, displace, m_context.runners.deadlines().call, where));
    ESPALIER_CHECK(judgeDamage(area, set, where));
    ESPALIER_TRY(const std::vector<OutputTally> found, m_oracle.compareWhole(area, set));
    for (std::size_t a = 0; a < found.size(); ++a) {
        if (!plan.arguments[a].isOutput()) {
            continue;
        }
        if (auto verdict = OracleComparison::judge(plan, a, found[a], before, where)) {
            return std::unexpected(std::move(*verdict));
        }
        OracleComparison::add(tallies[a], found[a]);
    }
    if (!facts.report.calls.empty()) {
        Verified::SimulatedCase& simulated = verified.simulated[plan.id];
        if (simulated.seconds.empty()) {
            simulated.counters = facts.report.calls[0].counters;
            simulated.launches = facts.report.calls[0].launchCount;
        }
        simulated.seconds.push_back(facts.report.calls[0].modelledSeconds);
    }
    ++verified.record.calls;
    return {};
}

Judged<void> Verifier::runCase(const CasePlan& plan, int calls, Verified& verified)
{
    ESPALIER_TRY(const std::uint64_t workspaceBytes, workspaceOf(m_context, m_candidate, plan));
    verified.workspaceBytes[plan.id] = workspaceBytes;
    const std::size_t sets = static_cast<std::size_t>((calls + 1) / 2);
    ESPALIER_TRY(WorkArea area,
                 orInfrastructure(WorkArea::create(m_context.device(), m_context.buffers, plan, sets, workspaceBytes, 0,
                                                   !m_context.session.exactGrants())));
    std::vector<OutputTally> tallies(plan.arguments.size());
    Judged<void> result;
    for (int call = 0; call < calls && result; ++call) {
        result = runCall(area, call, workspaceBytes, verified, tallies);
    }
    m_context.buffers.release();
    ESPALIER_CHECK(std::move(result));
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
        if (plan.arguments[a].isOutput()) {
            const bool judged = plan.arguments[a].elements >= OracleComparison::fewestForNorm;
            verified.record.errors.push_back({plan.id, plan.arguments[a].name, tallies[a].worstRatio,
                                              tallies[a].normError(), judged ? plan.normBounds[a] : 0,
                                              tallies[a].compared});
        }
    }
    return {};
}

Judged<Verified> Verifier::run(const std::vector<CasePlan>& plans, Tier tier)
{
    const auto start = std::chrono::steady_clock::now();
    Verified verified;
    verified.record.sandbox = m_context.runners.sandbox().grade();
    const int calls = tier == Tier::Full ? 4 : 2;
    for (const CasePlan& plan : plans) {
        if (onProgress) {
            onProgress(fmt::format("case {}", plan.id));
        }
        ESPALIER_CHECK(runCase(plan, calls, verified));
    }
    verified.record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return verified;
}

} // namespace espalier::judge
