// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/exchange.h"
#include "core/model/node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// Totals a run may not pass, and rules by which it has enough; nullopt: no limit. They hold for the session, over all
/// its runs.
struct Budget {
    std::optional<std::int64_t> evaluations;
    std::optional<double> seconds;
    std::optional<double> usd;          ///< for models
    std::optional<std::int64_t> tokens; ///< of models, in and out together
    std::optional<double> target; ///< enough: the best is surely so many times as fast as the incumbent (else the root)
    std::optional<double> roofPercent;   ///< enough: the best is surely within so many per cent of its goal floor
    std::optional<std::int64_t> plateau; ///< enough: so many evaluations without a new best
    bool operator==(const Budget&) const = default;
};

/// What a session is about; fixed when it is created (a conflicting device or seed is an error on resume; another
/// edition of the task may take over).
struct SessionInfo {
    std::string file;
    std::string taskId, taskTitle, taskFolder, taskHash;
    std::int64_t edition = 0; ///< of the task, from 1; 0: an older Espalier wrote the session, without its task
    std::string remark;       ///< about the file, one sentence: "… was copied while it was written …"; may be empty
    std::string device;       ///< as asked: "auto", "sim", "cuda:0"
    std::string deviceName;   ///< "NVIDIA H200", "Simulated H200"
    std::string deviceUuid;   ///< which of the kind it ran on last; several with commas; empty: simulated or not known
    Provenance provenance = Provenance::Model;
    std::string epoch;
    std::string strategy;
    std::vector<std::string> proposers;
    std::vector<std::string> models; ///< profiles of the models as JSON objects, without anything secret
    std::string llm;                 ///< how much they are asked for, as a JSON object; empty: defaults
    std::uint64_t seed = 0;
    std::string incumbent;     ///< as asked: "old.cu", "libops.so:launch"; empty: the task's, or the root
    std::string incumbentHash; ///< of its contents
    Budget budget;
    std::string createdAt; ///< ISO 8601, UTC
};

enum class RunState { Idle, Running, Pausing, Paused, Finished, Failed };
std::string_view nameOf(RunState state);

/// Tallies over all evaluated candidates (the task's own root does not count, nor what was never built: no source,
/// cancelled). `failed`: it did not build.
struct EvaluationCounts {
    std::int64_t evaluations = 0, passed = 0, rejected = 0, failed = 0, notRun = 0;
    /// "24 evaluations: 22 passed, 1 rejected, 0 did not build, 1 not run"
    std::string inWords() const;
};

/// The engine's state as people watch it.
struct RunStatus {
    RunState state = RunState::Idle;
    std::string why;         ///< Finished/Failed/Paused: one sentence ("the budget of 12 evaluations is used up")
    bool byEngineer = false; ///< Paused on the engineer's word: it waits to be told to go on
    /// Answers of models are coming, and nothing else is waited for: they are read for at most so many seconds more.
    std::optional<int> readsOn;
    Budget budget;
    std::int64_t evaluations = 0, passed = 0, rejected = 0, failed = 0, notRun = 0;
    int building = 0, waiting = 0, judging = 0;
    std::optional<NodeId> best;
    std::optional<Interval> bestSpeedupRoot, bestTimeUs;
    double seconds = 0; ///< spent by this session's runs, all together
    double evaluationsPerSecond = 0;
    std::optional<double>
        idleShare; ///< of the time since a device was first asked, that it had nothing to judge: 0 to 1
    std::optional<double> secondsLeft; ///< estimate from the budget and the rate
    double usd = 0;
    std::int64_t tokens = 0;
    int asking = 0;    ///< requests to models under way
    Spending spending; ///< on models, by all runs of the session
    bool operator==(const RunStatus&) const = default;
};

/// One entry of what is planned next.
struct PlannedStep {
    enum Kind { Running, Queued, Next, Open };
    Kind kind = Open;
    NodeId node{0};  ///< Next: the idea to implement, or the parent to have ideas for
    std::string why; ///< a few words
    bool operator==(const PlannedStep&) const = default;
};

/// A technique that the engineer does not want in the session.
struct BannedTechnique {
    std::string text;      ///< for people and models: "no fp16"
    std::string predicate; ///< held by the judge, as Limit::text(); may be empty
    bool operator==(const BannedTechnique&) const = default;
};

/// The end of a run, as `run --json` prints it (DESIGN.md section 8).
struct RunSummary {
    std::string task, device;
    std::string why; ///< it ended: one sentence
    Provenance provenance = Provenance::Model;
    EvaluationCounts counts;
    std::optional<NodeId> best;
    std::string bestFoundBy;              ///< proposer of the best candidate
    std::optional<CaseTiming> bestTiming; ///< of the case that stands for the objective (the first timed one)
    std::optional<Interval> speedupRoot;
    bool measuredAgain = false; ///< the best's figures are a second measurement, on new inputs, in the full tier
    std::optional<Interval> speedupIncumbent; ///< absent where the root is the incumbent
    std::string incumbent;                    ///< its name; empty: the root
    double seconds = 0, usd = 0;
    std::optional<double> idleShare; ///< of the device, 0 to 1, over all runs of the session; absent: never asked
    std::int64_t tokens = 0;
    Spending spending;                          ///< on models
    std::int64_t improvements = 0;              ///< candidates of models that were faster than everything before them
    std::optional<double> tokensPerImprovement; ///< absent without tokens or without an improvement
};

} // namespace espalier
