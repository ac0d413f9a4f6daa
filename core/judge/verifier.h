// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/judge/context.h"
#include "core/judge/oracle_comparison.h"
#include "core/judge/relation_check.h"
#include "core/judge/repeat_check.h"
#include "core/worker/evaluator.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace espalier::judge {

/// What the gate found, and what the simulated device counted on the way.
struct Verified {
    VerifyRecord record;
    struct SimulatedCase {
        std::vector<double> seconds; ///< modelled, one per call
        sim::Counters counters;      ///< of the first call
        std::uint64_t launches = 0;
    };
    std::map<std::string, SimulatedCase> simulated;      ///< by case
    std::map<std::string, std::uint64_t> workspaceBytes; ///< by case
};

/// The gate: every case several times, each call with fresh secret inputs and outputs poisoned in another way, compared
/// whole; on a GPU also what the given stream alone has done, and a replay of the captured call. Thread: the judge's.
class Verifier
{
public:
    Verifier(const Context& context, OracleComparison& oracle, LoadedRunner& candidate)
        : m_context(context), m_oracle(oracle), m_candidate(candidate)
    {
    }

    std::function<void(const std::string&)> onProgress;
    /// `plans`: the task's own cases; `unseen`: those that the judge made itself, called a third as often; `relations`:
    /// two calls each.
    Judged<Verified> run(const std::vector<CasePlan>& plans, const std::vector<CasePlan>& unseen,
                         const std::vector<RelationPlan>& relations, Tier tier);

    /// What one finished call changed that it must not have.
    static Judged<void> judgeDamage(WorkArea& area, std::size_t set, const std::string& where);

private:
    struct Preparation;
    static std::vector<Preparation> unseenPreparations(Tier tier);
    Judged<void> runRelation(const RelationPlan& relation, Verified& verified);
    static std::vector<Preparation> preparations(Tier tier, std::size_t caseIndex, bool swapped);
    /// `replay`: the captured call, too, where the device can capture.
    Judged<void> runCase(const CasePlan& plan, const std::vector<Preparation>& calls, bool replay, Verified& verified);
    Judged<void> judgeRepeats(const CasePlan& plan, const RepeatCheck& check, Verified& verified) const;
    Judged<void> runCall(WorkArea& area, int call, const Preparation& preparation, std::uint64_t workspaceBytes,
                         Verified& verified, std::vector<OutputTally>& tallies);
    Judged<void> prepareAndCall(WorkArea& area, const std::string& where, const Preparation& preparation,
                                std::uint64_t workspaceBytes, Verified& verified, std::vector<OutputTally>& tallies);

    const Context& m_context;
    OracleComparison& m_oracle;
    LoadedRunner& m_candidate;
};

} // namespace espalier::judge
