// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/evaluation.h"
#include "core/model/library.h"
#include "core/model/task.h"

#include <memory>
#include <string>
#include <vector>

namespace espalier {

/// What is compiled decides which contract it must keep: a candidate (or root) is untrusted and may import only what
/// the allow-list names; oracle and baselines are the task's own. The incumbent is the engineer's code: it may import
/// what it likes, and runs confined.
enum class SourceRole { Candidate, Oracle, Baseline, Incumbent };

struct BuildJob {
    RequestId id{0};
    std::shared_ptr<const Task> task;
    SourceRole role = SourceRole::Candidate;
    std::string source;
    std::vector<std::string> libraries; ///< Baseline: "cublas"
    std::string architecture;           ///< "90a"
};

/// `evaluation.outcome` is Passed when a library came out, else BuildFailed, TimedOut (deadline), Suspicious (imports)
/// or NotRun with its cause; stage is Build.
struct BuildResult {
    RequestId id{0};
    Evaluation evaluation;
    std::optional<Library> library;
};

/// Compiles on all cores, each compiler in the sandbox, with a content-addressed cache on disk.
/// Thread: the engine's; never blocks: poll `descriptor()`, then receive().
class BuildPool
{
public:
    virtual ~BuildPool() = default;
    virtual void submit(BuildJob job) = 0;
    virtual void cancel(RequestId id) = 0;
    virtual int descriptor() const = 0;
    virtual std::vector<BuildResult> receive() = 0;
    virtual int busy() const = 0; ///< jobs being compiled now
};

} // namespace espalier
