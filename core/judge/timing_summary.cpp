// SPDX-License-Identifier: Apache-2.0
// What the blocks of a race come to: figures with intervals, the objective, and what a person should look at.
#include "core/analysis/objective.h"
#include "core/analysis/statistics.h"
#include "core/judge/defences.h"
#include "core/judge/timer.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace espalier::judge {

namespace {

constexpr double physicalSlack = 0.98;
constexpr double memoRatio = 1.5;     ///< honest kernels stay below 1.22 (verification.md, V24)
constexpr double nearPeak = 0.95;     ///< of the measured peak: worth a look
constexpr double farBeyondVendor = 2; ///< times as fast as a vendor's library: worth a look

constexpr std::uint64_t bootstrapSeed =
    0x45737061; // the interval of given samples must not depend on when it is computed

Latency latencyOf(const std::vector<double>& samples)
{
    return {statistics::quantile(samples, 0.50), statistics::quantile(samples, 0.95),
            statistics::quantile(samples, 0.99), static_cast<int>(samples.size())};
}

} // namespace

Judged<void> Timer::checkFloor(const CasePlan& plan, const CaseTiming& timing) const
{
    const double floor = m_floors.physicalUs(plan, cold()) * physicalSlack;
    if (floor > 0 && timing.timeUs.value < floor && stands(Defence::PhysicalFloor)) {
        return rejected(Outcome::Suspicious, "floor",
                        fmt::format("case {} took {:.4g} us, but moving its bytes and doing its arithmetic once takes "
                                    "this device at least {:.4g} us",
                                    plan.id, timing.timeUs.value, floor));
    }
    return {};
}

CaseTiming Timer::summarise(const CasePlan& plan, const std::vector<Contender>& contenders,
                            const Gathered& gathered) const
{
    const auto blocksOf = [](const Contender& contender) {
        std::vector<statistics::Blocks> blocks;
        for (const Lane& lane : contender.lanes) {
            blocks.push_back(lane.blocks);
        }
        return blocks;
    };
    // What a process adds to device times is known from measurements; of latencies nothing is.
    const statistics::ProcessNoise noise = serves() ? statistics::ProcessNoise{} : statistics::measuredProcessNoise;
    CaseTiming timing;
    timing.caseId = plan.id;
    timing.provenance = Provenance::Measured;
    timing.goalFloorUs = m_floors.goalUs(plan);
    const BlockLedger& own = contenders[0].ledger;
    const std::vector<statistics::Blocks> candidate = blocksOf(contenders[0]);
    timing.blocks = own.kept();
    timing.timeUs = statistics::timeOver(candidate, noise, bootstrapSeed);
    timing.samplesUs = own.samples();
    timing.samples = static_cast<int>(timing.samplesUs.size());
    timing.dropped = own.dropped();
    timing.droppedBecause = own.droppedBecause();
    timing.conditions = gathered.conditions;
    timing.runners = static_cast<int>(candidate.size());
    timing.launchUs = own.medianLaunch();
    timing.endToEndUs = own.medianEndToEnd();
    timing.unseenOverSeen = statistics::median(gathered.unseenOverSeen);
    if (serves()) {
        timing.latency = latencyOf(own.samples());
    }
    for (std::size_t i = 1; i < contenders.size(); ++i) {
        const Contender& rival = contenders[i];
        if (!rival.out.empty() || rival.ledger.kept() == 0) {
            continue;
        }
        const std::vector<statistics::Blocks> blocks = blocksOf(rival);
        const Interval ratio = statistics::speedupOver(blocks, candidate, noise, bootstrapSeed);
        if (!(ratio.value > 0)) {
            continue; // no round counts for both
        }
        timing.rivalTimeUs[rival.id] = statistics::timeOver(blocks, noise, bootstrapSeed).value;
        if (serves()) {
            timing.rivalLatency[rival.id] = latencyOf(rival.ledger.samples());
        }
        switch (rival.kind) {
        case Contender::Kind::Root:
            timing.speedupRoot = ratio;
            break;
        case Contender::Kind::Parent:
            timing.speedupParent = ratio;
            break;
        case Contender::Kind::Incumbent:
            timing.speedupIncumbent = ratio;
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

std::optional<std::string> memoComplaint(std::vector<double> unseenOverSeen)
{
    constexpr std::size_t fewest = 2;
    // The lower quartile: one odd block is no evidence.
    if (unseenOverSeen.size() < fewest || statistics::quantile(unseenOverSeen, 0.25) <= memoRatio) {
        return std::nullopt;
    }
    return fmt::format("with inputs that it had seen before it took 1/{:.2f} of the time that new ones took; only a "
                       "kept answer can be faster the second time",
                       statistics::medianInPlace(unseenOverSeen));
}

std::vector<Evidence> reviewOf(const CaseTiming& timing, const std::vector<std::string>& vendor, bool cold)
{
    std::vector<Evidence> review;
    const double share = timing.timeUs.value > 0 ? timing.goalFloorUs / timing.timeUs.value : 0;
    if (cold && share > nearPeak) {
        review.push_back({"review", fmt::format("case {} reaches {:.0f} % of the peak that was measured on this "
                                                "device: look at the kernel before you believe it",
                                                timing.caseId, 100 * share)});
    }
    for (const std::string& id : vendor) {
        const auto found = timing.speedupBaselines.find(id);
        if (found != timing.speedupBaselines.end() && found->second.low > farBeyondVendor) {
            review.push_back(
                {"review", fmt::format("case {} is {:.2f} times as fast as the vendor's library ({}): look "
                                       "at the kernel before you believe it",
                                       timing.caseId, found->second.value, id)});
        }
    }
    return review;
}

namespace {

/// What each case was held to where the task's objective has a guard.
std::vector<Evidence> toldOfGuard(const Task& task, const TimingRecord& record)
{
    std::vector<std::string> byRoot, byNothing;
    for (const CaseTiming& timing : record.cases) {
        if (!timing.speedupIncumbent) {
            (timing.speedupRoot ? byRoot : byNothing).push_back(timing.caseId);
        }
    }
    std::vector<Evidence> told;
    if (task.objective.guard && !byRoot.empty()) {
        told.push_back(
            {"objective", fmt::format("the objective's guard compares with the root in case {}: no incumbent was "
                                      "timed beside the kernel",
                                      fmt::join(byRoot, ", "))});
    }
    if (task.objective.guard && !byNothing.empty()) {
        told.push_back(
            {"objective", fmt::format("the objective's guard was not looked at in case {}: neither an incumbent nor "
                                      "the root was timed beside the kernel",
                                      fmt::join(byNothing, ", "))});
    }
    return told;
}

} // namespace

std::vector<Evidence> completeObjective(const Task& task, const std::vector<CasePlan>& plans, TimingRecord& record)
{
    const auto weightOf = [&plans](std::string_view id) {
        const auto plan = std::find_if(plans.begin(), plans.end(), [&](const CasePlan& p) { return p.id == id; });
        return plan == plans.end() ? 1 : plan->weight;
    };
    addUpObjective(task.objective, weightOf, record);
    return toldOfGuard(task, record);
}

} // namespace espalier::judge
