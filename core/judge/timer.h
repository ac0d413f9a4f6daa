// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/analysis/stopping_criterion.h"
#include "core/judge/block_clock.h"
#include "core/judge/floors.h"
#include "core/judge/oracle_comparison.h"
#include "core/worker/evaluator.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace espalier::judge {

/// One library on the race track.
struct Contender {
    enum class Kind { Candidate, Root, Parent, Baseline };
    Kind kind = Kind::Candidate;
    std::string id; ///< "candidate", "root", "parent" or the baseline's id
    LoadedRunner* runner = nullptr;
    std::uint64_t workspaceBytes = 0;
    std::vector<runner::Call> calls; ///< by set
    BlockLedger ledger;
    bool checked = false; ///< a rival's outputs have been looked at once
    std::string out;      ///< why it left the race; empty: in it
};

/// Times one candidate against its rivals on a CUDA device: alternating blocks on the same fresh buffers, every block
/// of the candidate's checked, until the interval of the ratio is narrow enough or the budget ends. Thread: the
/// judge's.
class Timer
{
public:
    Timer(const Context& context, OracleComparison& oracle, const Floors& floors, Tier tier)
        : m_context(context), m_oracle(oracle), m_floors(floors), m_tier(tier)
    {
    }

    std::function<void(const std::string&)> onProgress;
    /// `contenders[0]` is the candidate.
    Judged<CaseTiming> time(const CasePlan& plan, std::vector<Contender>& contenders, TimingRecord& record);

private:
    Judged<std::size_t> pilot(const CasePlan& plan, std::vector<Contender>& contenders);
    Judged<void> enter(const WorkArea& area, std::vector<Contender>& contenders);
    Judged<void> round(WorkArea& area, std::vector<Contender>& contenders, const std::vector<std::size_t>& order,
                       TimingRecord& record);
    Judged<CaseTiming> race(WorkArea& area, std::vector<Contender>& contenders, TimingRecord& record);
    Judged<void> checkBlock(WorkArea& area, const std::vector<Before>& before, TimingRecord& record);
    Judged<void> checkFloor(const CasePlan& plan, const CaseTiming& timing) const;
    CaseTiming summarise(const CasePlan& plan, const std::vector<Contender>& contenders) const;
    StoppingCriterion criterion() const;

    const Context& m_context;
    OracleComparison& m_oracle;
    const Floors& m_floors;
    Tier m_tier;
};

/// Puts the cases' timings together as the task's objective says.
void completeObjective(const Task& task, const std::vector<CasePlan>& plans, TimingRecord& record);

} // namespace espalier::judge
