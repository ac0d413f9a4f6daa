// SPDX-License-Identifier: Apache-2.0
// Who is timed beside a candidate: which libraries, in which processes, and whether an incumbent serves the case at
// all.
#include "core/judge/evaluation_run.h"

#include "core/base/hash.h"
#include "core/model/task_loader.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::judge {

namespace {

constexpr std::size_t fullRunners = 3; ///< processes a side in the full tier

} // namespace

std::vector<Evaluator::Rival> Evaluator::rivalsOf(const worker::Evaluate& job, const Task& task)
{
    std::vector<Rival> rivals;
    if (job.root != job.candidate) {
        rivals.push_back({Contender::Kind::Root, Role::Rival, "root", job.root, task.entry});
    }
    if (job.parent && *job.parent != job.root && *job.parent != job.candidate) {
        rivals.push_back({Contender::Kind::Parent, Role::Rival, "parent", *job.parent, task.entry});
    }
    if (job.incumbent && job.incumbent->first != job.root && job.incumbent->first != job.candidate) {
        const auto& [hash, symbol] = *job.incumbent;
        rivals.push_back({Contender::Kind::Incumbent, Role::Rival, "incumbent", hash, symbol});
    }
    for (const auto& [id, hash] : job.baselines) {
        const auto baseline =
            std::find_if(task.baselines.begin(), task.baselines.end(), [&](const Baseline& b) { return b.id == id; });
        const bool known = baseline != task.baselines.end();
        // The quick tier compares with what the search builds on and with the rival that is shown first.
        if (job.tier == Tier::Full || (known && baseline->headline && !job.incumbent)) {
            rivals.push_back(
                {Contender::Kind::Baseline, Role::Trusted, id, hash, task.entry, known ? &*baseline : nullptr});
        }
    }
    return rivals;
}

/// In the quick tier the candidate's process and those of rivals that are not warm start side by side: together they
/// take little longer than one. Whoever needs more than a standby's one queue is started when its turn comes.
Result<void> Evaluator::prepareRunners(const worker::Evaluate& job, const Task& task)
{
    RunnerPool& runners = m_context.runners;
    std::size_t wanted = 1; // this candidate's, or the next one's
    if (job.tier == Tier::Quick && !job.verifyOnly) {
        for (const Rival& rival : rivalsOf(job, task)) {
            if (rival.role != Role::Trusted && !runners.isWarm(rival.role, rival.library)) {
                ESPALIER_TRY(const Queues queues, runners.queuesOf(rival.library));
                wanted += queues == Queues::One;
            }
        }
    }
    return runners.prepareStandby(wanted);
}

Judged<Evaluator::Processes> Evaluator::freshProcesses(const worker::Evaluate& job, const Task& task,
                                                       const std::vector<Rival>& rivals,
                                                       std::vector<Evidence>& evidence)
{
    ESPALIER_TRY(const DeviceMemory memory, orInfrastructure(m_context.device().memory()));
    const std::uint64_t each = std::max<std::uint64_t>(m_context.session.bytesPerRunner(), 1) * (rivals.size() + 1);
    const auto affordable = static_cast<std::size_t>(memory.freeBytes / 2 / each);
    const std::size_t runners = std::clamp<std::size_t>(affordable, 1, fullRunners);
    if (runners < fullRunners) {
        evidence.push_back({"runners", fmt::format("timed in {} process{} a side instead of {}: the device's memory "
                                                   "holds no more",
                                                   runners, runners == 1 ? "" : "es", fullRunners)});
    }
    std::vector<RunnerPool::Seat> seats;
    for (std::size_t i = 0; i < runners; ++i) {
        seats.push_back({Role::Candidate, job.candidate, "candidate", entryNames(task.entry)});
        for (const Rival& rival : rivals) {
            seats.push_back({rival.role, rival.library, rival.id, entryNames(rival.entry)});
        }
    }
    ESPALIER_TRY(auto seated, orInfrastructure(m_context.runners.seat(seats, m_context.interrupts)));
    Processes processes;
    std::vector<std::string> absent;
    for (std::size_t i = 0; i < seats.size(); ++i) {
        const std::string& id = seats[i].what;
        if (seated[i]) {
            processes[id].push_back(*seated[i]);
        } else if (seats[i].role == Role::Candidate || seated[i].error().cause == NotRunCause::Cancelled) {
            return std::unexpected(std::move(seated[i].error()));
        } else if (std::find(absent.begin(), absent.end(), id) == absent.end()) {
            absent.push_back(id);
            evidence.push_back({"rival", fmt::format("{} could not be timed: {}", id, seated[i].error().reason)});
        }
    }
    for (const std::string& id : absent) {
        processes.erase(id);
    }
    return processes;
}

/// One call on fresh inputs; with an oracle its answer is compared. Returns the modelled seconds (simulated device).
Judged<double> Evaluator::callRival(LoadedRunner& runner, const CasePlan& plan, OracleComparison* oracle)
{
    ESPALIER_TRY(const std::uint64_t workspace, workspaceOf(m_context, runner, plan));
    ESPALIER_TRY(WorkArea area, orInfrastructure(WorkArea::create(m_context.device(), m_context.buffers, plan, 1,
                                                                  workspace, 0, !m_context.session.exactGrants())));
    const auto run = [&]() -> Judged<double> {
        ESPALIER_CHECK(orInfrastructure(area.drawInputs(0)));
        ESPALIER_CHECK(orInfrastructure(area.poisonOutputs(0, Before::Noise)));
        ESPALIER_CHECK(orInfrastructure(area.poisonWorkspace()));
        ESPALIER_TRY(const runner::Call call, entryCall(m_context, runner, area, 0, workspace));
        const std::string where = fmt::format("case {}", plan.id);
        ESPALIER_TRY(const BlockFacts facts,
                     runCalls(m_context, runner, {call}, false, m_context.runners.deadlines().call, where));
        if (oracle) {
            ESPALIER_CHECK(Verifier::judgeDamage(area, 0, where));
            ESPALIER_TRY(const std::vector<OutputTally> tallies, oracle->compareWhole(area, 0));
            for (std::size_t a = 0; a < tallies.size(); ++a) {
                if (!plan.arguments[a].isOutput()) {
                    continue;
                }
                if (auto verdict = OracleComparison::judge(plan, a, tallies[a], Before::Noise, where)) {
                    return std::unexpected(std::move(*verdict));
                }
            }
        }
        return facts.report.calls.empty() ? 0 : facts.report.calls[0].modelledSeconds;
    };
    Judged<double> seconds = run();
    m_context.buffers.release();
    return seconds;
}

/// Nobody has verified the incumbent: a wrong answer in half the time must not be what candidates are compared with.
/// Looked at once for each case; why not is said with every candidate.
Judged<bool> Evaluator::incumbentServes(const std::string& taskHash, const Rival& incumbent, const CasePlan& plan,
                                        OracleComparison& oracle, std::vector<Evidence>& evidence)
{
    const auto key = std::tuple(taskHash, incumbent.library + incumbent.entry, plan.id);
    auto known = m_served.find(key);
    if (known == m_served.end()) {
        const auto look = [&]() -> Judged<double> {
            auto warm = m_context.runners.warm(Role::Rival, incumbent.library, entryNames(incumbent.entry),
                                               "the incumbent", m_context.interrupts);
            if (!warm) {
                return notRun(NotRunCause::Unsupported, warm.error().message);
            }
            if (((*warm)->found & 1) == 0) {
                return notRun(NotRunCause::Unsupported, fmt::format("it has no function {}", incumbent.entry));
            }
            return callRival(**warm, plan, &oracle);
        };
        const auto called = look();
        m_context.runners.dropDead();
        if (!called && (called.error().cause == NotRunCause::Cancelled || called.error().again)) {
            return std::unexpected(called.error());
        }
        known = m_served.emplace(key, called ? "" : called.error().reason).first;
    }
    if (!known->second.empty()) {
        evidence.push_back(
            {"rival", fmt::format("the incumbent is not compared with in case {}: {}", plan.id, known->second)});
    }
    return known->second.empty();
}

Judged<std::vector<Contender>> Evaluator::contendersOf(const std::string& taskHash, const CasePlan& plan,
                                                       const std::vector<Rival>& rivals, const Processes& processes,
                                                       OracleComparison& oracle, LoadedRunner& candidate,
                                                       std::vector<Evidence>& evidence)
{
    // First of all: what it starts and ends must not move what the contenders below hold.
    std::vector<const Rival*> taking;
    for (const Rival& rival : rivals) {
        bool serves = !rival.baseline || rival.baseline->serves(plan.id);
        if (rival.kind == Contender::Kind::Incumbent) {
            ESPALIER_TRY(serves, incumbentServes(taskHash, rival, plan, oracle, evidence));
        }
        if (serves) {
            taking.push_back(&rival);
        }
    }
    std::vector<Contender> contenders(1);
    contenders[0].id = "candidate";
    const auto own = processes.find("candidate");
    const std::vector<LoadedRunner*> runners = own == processes.end() ? std::vector{&candidate} : own->second;
    for (LoadedRunner* runner : runners) {
        contenders[0].lanes.push_back({runner, {}, {}});
    }
    for (const Rival* one : taking) {
        const Rival& rival = *one;
        Contender contender;
        contender.kind = rival.kind;
        contender.id = rival.id;
        if (const auto fresh = processes.find(rival.id); fresh != processes.end()) {
            for (LoadedRunner* runner : fresh->second) {
                contender.lanes.push_back({runner, {}, {}});
            }
        } else if (!processes.empty()) {
            continue; // it could not be started, which was said
        } else if (auto warm = m_context.runners.warm(rival.role, rival.library, entryNames(rival.entry), rival.id,
                                                      m_context.interrupts)) {
            contender.lanes.push_back({*warm, {}, {}});
        } else {
            evidence.push_back({"rival", fmt::format("{} could not be timed: {}", rival.id, warm.error().message)});
            continue;
        }
        auto bytes = workspaceOf(m_context, *contender.lanes[0].runner, plan);
        if (!bytes) {
            evidence.push_back({"rival", fmt::format("{} could not be timed: {}", rival.id, bytes.error().reason)});
            continue;
        }
        contender.workspaceBytes = *bytes;
        contenders.push_back(std::move(contender));
    }
    return contenders;
}

} // namespace espalier::judge
