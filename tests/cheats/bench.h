// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/build/nvcc_build_pool.h"
#include "core/build/symbol_check.h"
#include "core/worker/judge_process.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace espalier::corpus {

/// One source to build and judge.
struct Work {
    std::string task; ///< as loadTask takes it
    std::string source;
    Tier tier = Tier::Quick;
    SymbolRules rules;     ///< what the built library is held against
    bool profile = false;  ///< with the profile stage
    bool sanitize = false; ///< with compute-sanitizer, or not at all
};

struct Verdict {
    Evaluation evaluation;
    double buildSeconds = 0;   ///< of the compiler; 0 when it came from the cache
    double verdictSeconds = 0; ///< from hand-over to the answer; 0 when the build ended it
};

/// The check that ended it: of its first evidence, or the stage; "-" for one that passed.
std::string checkOf(const Evaluation& evaluation);

/// A build pool and one warm judge: builds run ahead, jobs are judged one at a time in the order given. Thread: its
/// maker's.
class Bench
{
public:
    /// Errors: no toolkit, no judge; in their own words.
    static Result<Bench> start(const JudgeSettings& settings, const BuildPoolOptions& options);
    const JudgeHello& hello() const { return m_judge->hello(); }
    /// `done` gets every verdict with its index, in the order of `works`. Errors: a task that does not load, its root
    /// or oracle that does not build.
    Result<void> run(const std::vector<Work>& works, const std::function<void(std::size_t, const Verdict&)>& done);

private:
    struct Prepared {
        std::shared_ptr<const Task> task;
        Library root, oracle;
    };
    Result<const Prepared*> prepared(const std::string& task);
    Verdict judged(const Work& work, const Prepared& prepared, const Library& candidate);
    BuildResult awaitBuild(RequestId id);

    std::unique_ptr<Evaluator> m_judge;
    std::unique_ptr<BuildPool> m_pool;
    BuildPoolOptions m_options;
    std::map<std::string, Prepared> m_tasks;
    std::map<std::int64_t, BuildResult> m_finished;
    std::int64_t m_nextId = 1;
};

} // namespace espalier::corpus
