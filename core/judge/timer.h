// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/analysis/fresh_runs.h"
#include "core/analysis/stopping_criterion.h"
#include "core/base/hash.h"
#include "core/judge/block_clock.h"
#include "core/judge/device_monitor.h"
#include "core/judge/floors.h"
#include "core/judge/oracle_comparison.h"
#include "core/worker/evaluator.h"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace espalier::judge {

/// One process of a contender.
struct Lane {
    LoadedRunner* runner = nullptr;
    std::vector<runner::Call> calls; ///< by set
    statistics::Blocks blocks;       ///< median of each of its rounds; nullopt: dropped
};

/// One library on the race track.
struct Contender {
    enum class Kind { Candidate, Root, Parent, Incumbent, Baseline };
    Kind kind = Kind::Candidate;
    std::string id;          ///< "candidate", "root", "parent", "incumbent" or the baseline's id
    std::vector<Lane> lanes; ///< as many for every contender; lane i of all of them runs in the same rounds
    std::uint64_t workspaceBytes = 0;
    BlockLedger ledger;         ///< of all lanes
    int fastestSmMhz = 0;       ///< the highest clock seen
    std::size_t mostCalls = 32; ///< of a block's: a rival that is many times slower would take the others' seconds
    std::string out;            ///< why it left the race; empty: in it
};

/// Times one candidate against its rivals on a CUDA device: alternating blocks on the same fresh buffers, every block
/// of the candidate's checked, until the interval of the ratio is narrow enough or the budget ends. Thread: the
/// judge's.
class Timer
{
public:
    Timer(const Context& context, OracleComparison& oracle, const Floors& floors, DeviceMonitor& monitor, Tier tier,
          TimingSetting setting)
        : m_context(context), m_oracle(oracle), m_floors(floors), m_monitor(monitor), m_tier(tier),
          m_setting(std::move(setting))
    {
    }

    std::function<void(const std::string&)> onProgress;
    /// `contenders[0]` is the candidate. `budget`: seconds for the blocks of this case, asked for after the warm-up,
    /// which takes what it takes.
    Judged<CaseTiming> time(const CasePlan& plan, std::vector<Contender>& contenders,
                            const std::function<double()>& budget, TimingRecord& record);

private:
    /// What one case gathers beside the contenders' blocks.
    struct Gathered {
        std::vector<double> unseenOverSeen; ///< candidate's time with inputs of the first use over that of the second
        std::vector<BlockConditions> conditions;
    };

    bool cold() const { return m_setting.regime == "cold"; }
    bool serves() const { return m_setting.mode == "server"; }
    /// Captures a block's calls in every process: its blocks are then replays of one graph.
    Judged<void> captureAll(std::vector<Contender>& contenders);
    Judged<ClockedBlock> replayBlock(const Contender& contender, const Lane& lane, const std::string& during);
    /// What a direct call costs the host, and end to end: what a replay does not show.
    Judged<ClockedBlock> directBlock(WorkArea& area, const Contender& candidate, TimingRecord& record);
    Judged<std::size_t> pilot(const CasePlan& plan, std::vector<Contender>& contenders);
    std::size_t callsPerBlock(double microseconds, std::uint64_t bytesPerSet) const;
    Judged<void> enter(const WorkArea& area, std::vector<Contender>& contenders, std::optional<std::size_t> only = {});
    Judged<void> round(WorkArea& area, std::vector<Contender>& contenders, const std::vector<std::size_t>& order,
                       int number, Gathered& gathered, TimingRecord& record);
    Judged<std::vector<Before>> poison(WorkArea& area, bool first);
    Judged<ClockedBlock> timeBlock(const Contender& contender, const Lane& lane, const std::string& during);
    Judged<ClockedBlock> serve(const Lane& lane, const std::string& during);
    Judged<void> timeCandidate(WorkArea& area, Contender& candidate, Lane& lane, bool first, bool repeat,
                               Gathered& gathered, TimingRecord& record);
    /// Adds a block and says whether it counts; `conditions` are those right after it.
    bool take(Contender& contender, const ClockedBlock& clocked, BlockConditions& conditions);
    Judged<CaseTiming> race(WorkArea& area, std::vector<Contender>& contenders, double budgetSeconds,
                            TimingRecord& record);
    Judged<void> checkBlock(WorkArea& area, const std::vector<Before>& before, TimingRecord& record);
    Judged<void> checkFloor(const CasePlan& plan, const CaseTiming& timing) const;
    CaseTiming summarise(const CasePlan& plan, const std::vector<Contender>& contenders,
                         const Gathered& gathered) const;
    StoppingCriterion criterion(std::size_t lanes, double budgetSeconds) const;

    const Context& m_context;
    OracleComparison& m_oracle;
    const Floors& m_floors;
    DeviceMonitor& m_monitor;
    Tier m_tier;
    TimingSetting m_setting;
    bool m_graph = false; ///< the case's calls are so short that events around each would measure the launch
    std::mt19937_64 m_random{randomSeed()}; ///< order, poison, arrivals
};

/// Puts the cases' timings together as the task's objective says, and holds each against its guard. Told: which cases
/// were held to the root for want of an incumbent's time, and which to nothing.
std::vector<Evidence> completeObjective(const Task& task, const std::vector<CasePlan>& plans, TimingRecord& record);

/// What a timing shows that a person should look at before believing it; never a failure. `vendor`: ids of the
/// baselines that call a vendor's library.
std::vector<Evidence> reviewOf(const CaseTiming& timing, const std::vector<std::string>& vendor, bool cold);

/// A sentence when inputs that the candidate had seen before took it much less time than new ones: an answer was kept.
/// `unseenOverSeen`: ratios of single blocks.
std::optional<std::string> memoComplaint(std::vector<double> unseenOverSeen);

} // namespace espalier::judge
