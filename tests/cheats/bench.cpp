// SPDX-License-Identifier: Apache-2.0
#include "tests/cheats/bench.h"

#include "core/model/task_loader.h"
#include "tests/support/judge_drive.h"

#include <chrono>
#include <fmt/format.h>
#include <poll.h>

namespace espalier::corpus {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

bool isWhole(const SymbolRules& rules)
{
    return rules.imports && rules.exports && rules.sections;
}

/// What the build pool does with a candidate's library, under the rules that are left.
void holdToRules(const Work& work, const Task& task, BuildResult& build)
{
    SymbolVerdict symbols = checkSymbols(*build.library->bytes, task, SourceRole::Candidate, work.rules);
    build.evaluation.outcome = symbols.outcome;
    build.evaluation.reason = std::move(symbols.reason);
    build.evaluation.evidence = std::move(symbols.evidence);
    if (symbols.outcome != Outcome::Passed) {
        build.library.reset();
    }
}

Evaluation lost(const Error& error)
{
    Evaluation evaluation;
    evaluation.cause = NotRunCause::Infrastructure;
    evaluation.stage = Stage::Verify;
    evaluation.reason = "the judge was lost: " + error.message;
    return evaluation;
}

} // namespace

std::string checkOf(const Evaluation& evaluation)
{
    if (evaluation.outcome == Outcome::Passed) {
        return "-";
    }
    return evaluation.evidence.empty() ? std::string(nameOf(evaluation.stage)) : evaluation.evidence.front().check;
}

Result<Bench> Bench::start(const JudgeSettings& settings, const BuildPoolOptions& options)
{
    Bench bench;
    ESPALIER_TRY(bench.m_judge, startJudge(settings));
    bench.m_pool = makeNvccBuildPool(options);
    bench.m_options = options;
    return bench;
}

Result<const Bench::Prepared*> Bench::prepared(const std::string& name)
{
    if (const auto found = m_tasks.find(name); found != m_tasks.end()) {
        return &found->second;
    }
    ESPALIER_TRY(Task loaded, loadTask(name));
    Prepared prepared;
    prepared.task = std::make_shared<const Task>(std::move(loaded));
    ESPALIER_TRY(prepared.root,
                 test::builtFor(hello(), prepared.task, SourceRole::Candidate, prepared.task->root.text, m_options));
    ESPALIER_TRY(prepared.oracle, test::builtFor(hello(), prepared.task, SourceRole::Oracle,
                                                 prepared.task->oracle.source.text, m_options));
    return &m_tasks.emplace(name, std::move(prepared)).first->second;
}

BuildResult Bench::awaitBuild(RequestId id)
{
    for (;;) {
        if (const auto found = m_finished.find(id.value); found != m_finished.end()) {
            BuildResult result = std::move(found->second);
            m_finished.erase(found);
            return result;
        }
        pollfd polled = {m_pool->descriptor(), POLLIN, 0};
        ::poll(&polled, 1, 1000);
        for (BuildResult& result : m_pool->receive()) {
            m_finished.emplace(result.id.value, std::move(result));
        }
    }
}

Verdict Bench::judged(const Work& work, const Prepared& prepared, const Library& candidate)
{
    EvaluationJob job;
    job.id = RequestId{m_nextId++};
    job.task = prepared.task;
    job.root = prepared.root;
    job.oracle = prepared.oracle;
    job.candidate = candidate;
    job.tier = work.tier;
    job.profiling = work.profile ? Profiling::Core : Profiling::Off;
    job.sanitizing = work.sanitize ? Sanitizing::Required : Sanitizing::Off;
    const auto begin = Clock::now();
    auto evaluation = test::awaitVerdict(*m_judge, std::move(job));
    return {evaluation ? std::move(*evaluation) : lost(evaluation.error()), 0, secondsSince(begin)};
}

Result<void> Bench::run(const std::vector<Work>& works, const std::function<void(std::size_t, const Verdict&)>& done)
{
    std::vector<RequestId> builds;
    for (const Work& work : works) {
        ESPALIER_TRY(const Prepared* const ready, prepared(work.task));
        BuildJob job;
        job.id = RequestId{m_nextId++};
        job.task = ready->task;
        // Under fewer rules: built like the task's own code, which none of them is held against, and judged here.
        job.role = isWhole(work.rules) ? SourceRole::Candidate : SourceRole::Baseline;
        job.source = work.source;
        job.architecture = hello().architecture;
        builds.push_back(job.id);
        m_pool->submit(std::move(job));
    }
    for (std::size_t i = 0; i < works.size(); ++i) {
        ESPALIER_TRY(const Prepared* const ready, prepared(works[i].task));
        BuildResult build = awaitBuild(builds[i]);
        Verdict verdict;
        if (build.library && !isWhole(works[i].rules)) {
            holdToRules(works[i], *ready->task, build);
        }
        if (build.library) {
            verdict = judged(works[i], *ready, *build.library);
            verdict.evaluation.build = build.evaluation.build;
            verdict.evaluation.evidence.insert(verdict.evaluation.evidence.end(), build.evaluation.evidence.begin(),
                                               build.evaluation.evidence.end());
        } else {
            verdict.evaluation = std::move(build.evaluation);
        }
        verdict.buildSeconds = verdict.evaluation.build ? verdict.evaluation.build->seconds : 0;
        done(i, verdict);
    }
    return {};
}

} // namespace espalier::corpus
