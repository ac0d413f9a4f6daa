// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/judge/context.h"
#include "core/judge/verdict.h"
#include "core/model/evaluation.h"
#include "core/model/task.h"
#include "core/worker/evaluator.h"

#include <functional>
#include <string>
#include <vector>

namespace espalier::judge {

/// A candidate that passed under CUPTI: activity records, counters, samples, each in a confined process of its own that
/// is ended after it, on fresh inputs of the judge's. Nothing of it counts for the candidate; one thing can count
/// against it: what its calls put on the device beside the given stream (V10). Thread: the judge's; blocks, but hears a
/// cancel.
class Profiler
{
public:
    Profiler(const Context& context, const Task& task) : m_context(context), m_task(task) {}

    std::function<void(const std::string&)> onProgress;
    std::vector<Roof> roofs; ///< of the device, for the record
    /// Fills `evaluation.profile`, its metrics and the timing record's activity. A collector that cannot work says why
    /// in its note; the others go on. The verdict is the candidate's only for work that nobody joins to the stream.
    /// `candidate`: its own runner, which is only asked for its workspace.
    Judged<void> run(LoadedRunner& candidate, const std::vector<CasePlan>& plans, Profiling level,
                     Evaluation& evaluation);
    /// Activity accounting alone, of the first plan: what the calls leave on the device beside the given stream. Asked
    /// when a measurement fails because clocks disagree; where it cannot work, nothing is said.
    Judged<void> account(LoadedRunner& candidate, const std::vector<CasePlan>& plans, Evaluation& evaluation);

private:
    struct Bench;
    struct Attempt;
    Judged<bool> fill(Bench& bench, LoadedRunner& candidate, const CasePlan& plan, ProfileRecord& record) const;
    Judged<void> activity(const Bench& bench, Attempt& attempt, Evaluation& evaluation) const;
    Attempt begin(const Bench& bench, const std::string& collector, const std::string& sets) const;
    Judged<void> await(Attempt& attempt) const;
    Judged<Json> collect(const Bench& bench, Attempt& attempt) const;
    Judged<void> watch(const Bench& bench, Attempt& attempt, Json& seen) const;
    Judged<void> withArea(const Bench& bench, Evaluation& evaluation);
    Judged<void> byInstruction(const Bench& bench, ProfileRecord& record);
    std::string setsFor(Profiling level) const;

    const Context& m_context;
    const Task& m_task;
};

} // namespace espalier::judge
