// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/evaluation.h"
#include "core/model/library.h"
#include "core/model/task.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace espalier {

enum class Tier { Quick, Full };

/// Whether compute-sanitizer's tools look at the candidate between gate and timing. Required: without their word it
/// does not pass; WhereInstalled: where they cannot run, that is said.
enum class Sanitizing { Off, WhereInstalled, Required };

/// Whether a candidate that passed is looked at with CUPTI afterwards (on the simulated device: with its counts).
/// Core: bytes, operations and what each call puts on the device; Full: all counters and samples by source line; Exact:
/// also counts by instruction, for which the kernels of one call are patched.
enum class Profiling { Off, Core, Full, Exact };

/// The engineer's own kernel, timed as a rival: untrusted, in a confined runner of its own.
struct IncumbentLibrary {
    Library library;
    std::string symbol; ///< the function with the entry's signature
};

/// One candidate to verify and time. A value.
struct EvaluationJob {
    RequestId id{0};
    std::shared_ptr<const Task> task;
    Library candidate, root, oracle;
    std::optional<Library> parent; ///< when it is not the root
    std::optional<IncumbentLibrary> incumbent;
    std::vector<std::pair<std::string, Library>> baselines; ///< by id; trusted
    std::vector<std::string> caseIds;                       ///< empty: all that the device serves
    Tier tier = Tier::Quick;
    TimingSetting setting; ///< regime and mode; measured devices only
    bool verifyOnly = false;
    Sanitizing sanitizing = Sanitizing::Off;
    Profiling profiling = Profiling::Off;
    /// Set when an earlier run of the session verified this candidate and was cut off before timing: the judge starts
    /// with the timed blocks (their calls are checked too), so that no finished stage is done twice.
    std::optional<VerifyRecord> verified;
};

/// What a judge says of itself and its device when it starts.
struct JudgeHello {
    std::string deviceId, deviceName, uuid, driver;
    std::string architecture; ///< what to compile for: "90a"
    bool simulated = false;
    std::string sandbox; ///< "bubblewrap", or "none: …" with the reason
    std::uint64_t deviceBytes = 0;
    std::string runtime; ///< toolkit version the runners bind to, "13.0"
    Provenance provenance() const { return simulated ? Provenance::Model : Provenance::Measured; }
};

namespace evaluator {
struct Progress {
    RequestId id;
    Stage stage;
    std::string text;
};
/// A stage of the job ended well and the next one begins: the engine stores the record at once.
struct Verified {
    RequestId id;
    VerifyRecord record;
};
struct Finished {
    RequestId id;
    Evaluation evaluation;
}; ///< without the build record: the engine has it
struct Lost {
    Error error;
    std::vector<RequestId> unfinished;
}; ///< the judge is gone; its jobs are no verdict
using Event = std::variant<Progress, Verified, Finished, Lost>;
} // namespace evaluator

/// One device that verifies and times, one job at a time, in the order of submission (or several, a job each). Thread:
/// the engine's. Nothing here blocks: wait for `descriptor()` in the engine's poll loop, then call receive().
class Evaluator
{
public:
    virtual ~Evaluator() = default;
    virtual const JudgeHello& hello() const = 0;
    virtual int lanes() const { return 1; } ///< jobs that can be worked on at the same time
    virtual void submit(EvaluationJob job) = 0;
    virtual void cancel(RequestId id) = 0;
    virtual int descriptor() const = 0;
    /// Milliseconds until receive() should be called even without input (deadlines); -1: none.
    virtual int timeoutMilliseconds() const = 0;
    virtual std::vector<evaluator::Event> receive() = 0;
};

} // namespace espalier
