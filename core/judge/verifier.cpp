// SPDX-License-Identifier: Apache-2.0
#include "core/judge/verifier.h"

#include "core/base/hash.h"
#include "core/judge/defences.h"
#include "core/judge/failed_call.h"
#include "core/judge/graph_replay.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <random>

namespace espalier::judge {

/// How one call of the gate is prepared.
struct Verifier::Preparation {
    std::size_t set = 0; ///< of buffers
    Fresh fresh = Fresh::All;
    Before before = Before::Noise;
    /// The outputs lie elsewhere than in the call before, the inputs where they were: a call that is recognised by its
    /// inputs' addresses alone writes to the old place.
    bool moved = false;
};

/// Call by call, on the same buffers: outputs that were never an answer; outputs that hold an answer that is wrong now;
/// then inputs that hardly differ from the last ones, or agree with them where a sampler would look, below the answer
/// to those. The kinds alternate from case to case, so that two cases bring all of them; `swapped` says with which the
/// gate begins. The full tier goes through all of them in each case, on other buffers again.
std::vector<Verifier::Preparation> Verifier::preparations(Tier tier, std::size_t caseIndex, bool swapped)
{
    const bool even = caseIndex % 2 == 0;
    const bool coin = even != swapped;
    std::vector<Preparation> calls = {{0, Fresh::All, coin ? Before::Noise : Before::NaN},
                                      {0, Fresh::All, even ? Before::PreviousAnswer : Before::Inverted},
                                      {0, even ? Fresh::OneElement : Fresh::AllButWindow, Before::PreviousAnswer}};
    if (tier == Tier::Full) {
        calls.push_back({1, Fresh::All, coin ? Before::NaN : Before::Noise});
        calls.push_back({1, Fresh::All, even ? Before::Inverted : Before::PreviousAnswer});
        calls.push_back({1, even ? Fresh::AllButWindow : Fresh::OneElement, Before::PreviousAnswer});
    }
    return calls;
}

std::vector<Verifier::Preparation> Verifier::unseenPreparations(Tier tier)
{
    const bool coin = randomSeed() % 2 == 0;
    std::vector<Preparation> calls = {{0, Fresh::All, coin ? Before::Noise : Before::NaN}};
    if (tier == Tier::Full) {
        calls.push_back({0, Fresh::All, coin ? Before::PreviousAnswer : Before::Inverted});
    }
    return calls;
}

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
    for (const std::string& what : damage.late) {
        verdict.outcome = Outcome::Suspicious;
        verdict.evidence.push_back(
            {"stream",
             fmt::format("{} in {}: work on another stream or thread; join all of it to the stream", what, where)});
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

Judged<void> Verifier::runCall(WorkArea& area, int call, const Preparation& preparation, std::uint64_t workspaceBytes,
                               Verified& verified, std::vector<OutputTally>& tallies)
{
    const std::string where = fmt::format("call {} of case {}", call + 1, area.plan().id);
    Judged<void> result = prepareAndCall(area, where, preparation, workspaceBytes, verified, tallies);
    return result ? std::move(result)
                  : std::unexpected(withRecipe(std::move(result.error()), area, preparation.set, where));
}

Judged<void> Verifier::prepareAndCall(WorkArea& area, const std::string& where, const Preparation& preparation,
                                      std::uint64_t workspaceBytes, Verified& verified,
                                      std::vector<OutputTally>& tallies)
{
    const CasePlan& plan = area.plan();
    const std::size_t set = preparation.set;
    const Before before = preparation.before;
    ESPALIER_CHECK(orInfrastructure(area.drawInputs(set, preparation.fresh)));
    ESPALIER_CHECK(orInfrastructure(area.poisonOutputs(set, before)));
    ESPALIER_CHECK(orInfrastructure(area.poisonWorkspace()));
    ESPALIER_TRY(const runner::Call entry, entryCall(m_context, m_candidate, area, set, workspaceBytes));
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
            if (const std::string refused = refusedLaunch(facts); !refused.empty()) { // and it returned success
                verdict->reason += refused;
                verdict->evidence.push_back({"launch", facts.block.clock.refused});
            }
            return std::unexpected(std::move(*verdict));
        }
        OracleComparison::add(tallies[a], found[a]);
    }
    if (!facts.report.calls.empty()) {
        Verified::SimulatedCase& simulated = verified.simulated[plan.id];
        if (simulated.seconds.empty()) {
            simulated.counters = facts.report.calls[0].counters;
            simulated.launches = facts.report.calls[0].launchCount;
            verified.record.launches.push_back({plan.id, static_cast<int>(simulated.launches), 0, 0});
        }
        simulated.seconds.push_back(facts.report.calls[0].modelledSeconds);
    }
    ++verified.record.calls;
    return {};
}

Judged<void> Verifier::judgeRepeats(const CasePlan& plan, const RepeatCheck& check, Verified& verified) const
{
    const RepeatRecord& record = check.record();
    if (record.calls == 0) {
        return {};
    }
    verified.record.repeat = record;
    if (!plan.bitwise || record.differing == 0) {
        return {};
    }
    return rejected(
        Outcome::Incorrect, "determinism",
        fmt::format("output {} had other bits in another of {} calls of case {} on the same inputs ({} of {} "
                    "elements differ); the contract says determinism: bitwise",
                    check.firstDifferent(), record.calls, plan.id, record.differing, record.elements));
}

Judged<void> Verifier::runRelation(const RelationPlan& relation, Verified& verified)
{
    const CasePlan& plan = relation.plan;
    ESPALIER_TRY(const std::uint64_t workspaceBytes, workspaceOf(m_context, m_candidate, plan));
    ESPALIER_TRY(WorkArea area,
                 orInfrastructure(WorkArea::create(m_context.device(), m_context.buffers, plan, 1, workspaceBytes, 0,
                                                   !m_context.session.exactGrants(),
                                                   m_context.session.simulated() ? Probing::None : Probing::Gate)));
    std::mt19937_64 random(randomSeed());
    const std::vector<InputChange> changes = changesOf(relation, random);
    std::vector<OutputTally> tallies(plan.arguments.size());
    ESPALIER_CHECK(runCall(area, 0, {0, Fresh::All, Before::Noise}, workspaceBytes, verified, tallies));
    ESPALIER_TRY(const auto before, orInfrastructure(readOutputs(m_context.device(), area, 0)));
    area.changeInputs(0, changes);
    ESPALIER_CHECK(runCall(area, 1, {0, Fresh::Nothing, Before::NaN}, workspaceBytes, verified, tallies));
    ESPALIER_TRY(const auto after, orInfrastructure(readOutputs(m_context.device(), area, 0)));
    m_context.buffers.release();
    if (auto sentence = brokenRelation(relation, changes, before, after)) {
        return rejected(Outcome::Incorrect, "relation", std::move(*sentence));
    }
    return {};
}

Judged<void> Verifier::runCase(const CasePlan& plan, const std::vector<Preparation>& calls, bool replay,
                               Verified& verified)
{
    ESPALIER_TRY(const std::uint64_t workspaceBytes, workspaceOf(m_context, m_candidate, plan));
    verified.workspaceBytes[plan.id] = workspaceBytes;
    const bool simulated = m_context.session.simulated();
    const bool moves = std::any_of(calls.begin(), calls.end(), [](const Preparation& one) { return one.moved; });
    const std::size_t sets = std::max(calls.back().set + 1, moves ? std::size_t{2} : std::size_t{1});
    ESPALIER_TRY(WorkArea area, orInfrastructure(WorkArea::create(m_context.device(), m_context.buffers, plan, sets,
                                                                  workspaceBytes, 0, !m_context.session.exactGrants(),
                                                                  simulated ? Probing::None : Probing::Gate)));
    std::vector<OutputTally> tallies(plan.arguments.size());
    RepeatCheck check;
    Judged<void> result;
    for (std::size_t call = 0; call < calls.size() && result; ++call) {
        if (calls[call].moved) {
            area.exchangeOutputs(calls[call].set, calls[call].set == 0 ? 1 : 0);
        }
        result = runCall(area, static_cast<int>(call), calls[call], workspaceBytes, verified, tallies);
        const bool again = calls[call].fresh == Fresh::Nothing;
        const bool before = call + 1 < calls.size() && calls[call + 1].fresh == Fresh::Nothing;
        if (result && (again || before)) {
            result = orInfrastructure(check.add(m_context.device(), area, calls[call].set));
        }
    }
    if (result) {
        result = judgeRepeats(plan, check, verified);
    }
    if (result && !simulated && replay && stands(Defence::GraphReplay)) {
        auto count = replayCaptured(m_context, m_oracle, m_candidate, area, 0, workspaceBytes);
        if (count) {
            verified.record.launches.push_back(*count);
            ++verified.record.calls;
        } else {
            result = std::unexpected(
                withRecipe(count.error(), area, 0, fmt::format("the replayed call of case {}", plan.id)));
        }
    }
    m_context.buffers.release();
    ESPALIER_CHECK(std::move(result));
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
        if (plan.arguments[a].isOutput()) {
            const bool judged = plan.arguments[a].elements >= OracleComparison::fewestForNorm;
            verified.record.errors.push_back({plan.id, plan.arguments[a].name, tallies[a].worstRatio,
                                              tallies[a].normError(plan.reductionLength),
                                              judged ? plan.normBounds[a] : 0, tallies[a].compared});
        }
    }
    return {};
}

Judged<Verified> Verifier::run(const std::vector<CasePlan>& plans, const std::vector<CasePlan>& unseen,
                               const std::vector<RelationPlan>& relations, Tier tier)
{
    const auto start = std::chrono::steady_clock::now();
    Verified verified;
    verified.record.sandbox = m_context.runners.sandbox().grade();
    const bool swapped = randomSeed() % 2 == 0;
    const auto tell = [&](const CasePlan& plan) {
        if (onProgress) {
            onProgress(fmt::format("case {}", plan.id));
        }
    };
    const bool simulated = m_context.session.simulated();
    const std::size_t repeated = RepeatCheck::choose(plans, simulated);
    if (repeated == plans.size() && !plans.empty() && plans.front().bitwise) {
        return notRun(NotRunCause::Unsupported,
                      "the contract says determinism: bitwise, but no verified case has outputs of 64 "
                      "bytes to 16 MiB, which are what is repeated: give the task such a verify case");
    }
    for (std::size_t index = 0; index < plans.size(); ++index) {
        tell(plans[index]);
        std::vector<Preparation> calls = preparations(tier, index, swapped);
        const std::size_t repeats = simulated            ? 1
                                    : tier == Tier::Full ? 4
                                                         : 2; // a simulated call repeats itself exactly
        for (std::size_t i = 0; index == repeated && i < repeats; ++i) {
            // The answer itself must not lie there.
            calls.push_back({calls.back().set, Fresh::Nothing, i % 2 == 0 ? Before::Noise : Before::NaN, true});
        }
        ESPALIER_CHECK(runCase(plans[index], calls, true, verified));
    }
    for (const CasePlan& plan : stands(Defence::UnseenCases) ? unseen : std::vector<CasePlan>()) {
        tell(plan);
        ESPALIER_CHECK(runCase(plan, unseenPreparations(tier), false, verified));
    }
    for (const RelationPlan& relation : relations) {
        tell(relation.plan);
        ESPALIER_CHECK(runRelation(relation, verified));
    }
    verified.record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return verified;
}

} // namespace espalier::judge
