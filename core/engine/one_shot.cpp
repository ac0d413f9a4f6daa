// SPDX-License-Identifier: Apache-2.0
#include "core/engine/one_shot.h"

#include "core/build/incumbent.h"
#include "core/engine/epoch.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <poll.h>

namespace espalier {
namespace {

constexpr RequestId candidateJob{1}, rootJob{2}, oracleJob{3}, incumbentJob{4}, firstBaseline{5};
constexpr RequestId judgeJob{1};
constexpr int pollMilliseconds = 200;

using Progress = std::function<void(Stage, const std::string&)>;

Evaluation cancelled(Stage stage)
{
    Evaluation evaluation;
    evaluation.cause = NotRunCause::Cancelled;
    evaluation.stage = stage;
    evaluation.reason = "It was cancelled.";
    return evaluation;
}

class OneShot
{
public:
    OneShot(const OneShotRequest& request, const EngineParts& parts, const Progress& progress, std::stop_token stop)
        : m_request(request), m_parts(parts), m_progress(progress), m_stop(std::move(stop))
    {
    }

    Result<OneShotResult> run()
    {
        ESPALIER_TRY(Task task, m_parts.loadTask(m_request.task));
        m_task = std::make_shared<const Task>(std::move(task));
        for (const std::string& id : m_request.caseIds) {
            if (!m_task->findCase(id)) {
                return fail(ErrorCode::InvalidInput, fmt::format("Task {} has no case \"{}\".", m_task->id, id));
            }
        }
        if (m_request.incumbent.empty()) {
            m_incumbent = incumbentOf(*m_task);
        } else {
            ESPALIER_TRY(m_incumbent, loadIncumbent(m_request.incumbent, *m_task));
        }
        tell(Stage::Build, "starting the judge");
        ESPALIER_TRY(m_judge, m_parts.startJudge(m_request.device));
        m_hello = m_judge->hello();
        ESPALIER_TRY(const bool judge, build());
        if (judge) {
            ESPALIER_CHECK(evaluate());
        }
        m_evaluation.epoch = epochOf(m_hello, m_parts.toolkit(), *m_task);
        return OneShotResult{std::move(m_evaluation), m_hello};
    }

private:
    void tell(Stage stage, const std::string& text) const
    {
        if (m_progress) {
            m_progress(stage, text);
        }
    }

    void submit(BuildPool& pool, RequestId id, SourceRole role, const std::string& source,
                std::vector<std::string> libraries = {})
    {
        pool.submit({id, m_task, role, source, std::move(libraries), m_hello.architecture});
        m_awaited.push_back(id);
    }

    /// True when the judge has something to do.
    Result<bool> build()
    {
        const std::unique_ptr<BuildPool> pool = m_parts.makeBuildPool();
        submit(*pool, candidateJob, SourceRole::Candidate, m_request.source);
        submit(*pool, oracleJob, SourceRole::Oracle, m_task->oracle.source.text);
        if (m_request.source != m_task->root.text) {
            submit(*pool, rootJob, SourceRole::Candidate, m_task->root.text);
        }
        if (m_incumbent && !m_incumbent->library) {
            submit(*pool, incumbentJob, SourceRole::Incumbent, m_incumbent->source);
        }
        for (std::size_t i = 0; i < m_task->baselines.size() && !m_hello.simulated; ++i) {
            const Baseline& baseline = m_task->baselines[i];
            submit(*pool, RequestId{firstBaseline.value + static_cast<std::int64_t>(i)}, SourceRole::Baseline,
                   baseline.source.text, baseline.libraries);
        }
        tell(Stage::Build, "compiling");
        while (!m_awaited.empty()) {
            pollfd polled = {pool->descriptor(), POLLIN, 0};
            ::poll(&polled, 1, pollMilliseconds);
            if (m_stop.stop_requested()) {
                m_evaluation = cancelled(Stage::Build);
                return false;
            }
            for (BuildResult& result : pool->receive()) {
                std::erase(m_awaited, result.id);
                m_built.insert_or_assign(result.id, std::move(result));
                // A candidate that does not build needs nothing else to be compiled.
                if (const auto own = m_built.find(candidateJob); own != m_built.end() && !own->second.library) {
                    m_evaluation = own->second.evaluation;
                    return false;
                }
            }
        }
        m_evaluation = m_built.at(candidateJob).evaluation;
        ESPALIER_CHECK(needed(oracleJob, "oracle"));
        if (m_built.contains(rootJob)) {
            ESPALIER_CHECK(needed(rootJob, "root kernel"));
        }
        if (const auto incumbent = m_built.find(incumbentJob); incumbent != m_built.end()) {
            if (!incumbent->second.library) {
                return fail(ErrorCode::InvalidInput,
                            fmt::format("The incumbent {} does not build: {}", m_incumbent->name,
                                        incumbent->second.evaluation.reason));
            }
            m_incumbent->library = incumbent->second.library;
        }
        for (const auto& [id, result] : m_built) {
            if (id >= firstBaseline && !result.library) {
                const auto index = static_cast<std::size_t>(id.value - firstBaseline.value);
                tell(Stage::Build, fmt::format("baseline {} does not build and is left out: {}",
                                               m_task->baselines[index].id, result.evaluation.reason));
            }
        }
        return true;
    }

    Result<void> needed(RequestId id, const char* what) const
    {
        const BuildResult& result = m_built.at(id);
        return result.library ? Result<void>()
                              : fail(ErrorCode::InvalidInput, fmt::format("The {} of task {} does not build: {}", what,
                                                                          m_task->id, result.evaluation.reason));
    }

    EvaluationJob job() const
    {
        EvaluationJob job;
        job.id = judgeJob;
        job.task = m_task;
        job.candidate = *m_built.at(candidateJob).library;
        const auto root = m_built.find(rootJob);
        job.root = root == m_built.end() ? job.candidate : *root->second.library;
        job.oracle = *m_built.at(oracleJob).library;
        if (m_incumbent) {
            job.incumbent = IncumbentLibrary{*m_incumbent->library, m_incumbent->symbol};
        }
        for (const auto& [id, result] : m_built) {
            if (id >= firstBaseline && result.library) {
                const auto index = static_cast<std::size_t>(id.value - firstBaseline.value);
                job.baselines.emplace_back(m_task->baselines[index].id, *result.library);
            }
        }
        job.caseIds = m_request.caseIds;
        job.tier = m_request.tier;
        job.sanitizing = m_request.sanitizing;
        job.profiling = m_request.profiling;
        job.setting = m_request.setting;
        return job;
    }

    Result<void> evaluate()
    {
        m_judge->submit(job());
        bool asked = false, lostOnce = false;
        for (;;) {
            const int limit = m_judge->timeoutMilliseconds();
            pollfd polled = {m_judge->descriptor(), POLLIN, 0};
            ::poll(&polled, 1, limit >= 0 ? std::min(limit, pollMilliseconds) : pollMilliseconds);
            if (m_stop.stop_requested() && !asked) {
                asked = true;
                m_judge->cancel(judgeJob);
            }
            for (evaluator::Event& event : m_judge->receive()) {
                if (const auto* progress = std::get_if<evaluator::Progress>(&event)) {
                    tell(progress->stage, progress->text);
                } else if (const auto* verified = std::get_if<evaluator::Verified>(&event)) {
                    m_verified = verified->record;
                } else if (auto* finished = std::get_if<evaluator::Finished>(&event)) {
                    finish(std::move(finished->evaluation));
                    return {};
                } else if (const auto& lost = std::get<evaluator::Lost>(event); asked) {
                    finish(cancelled(Stage::Verify));
                    return {};
                } else if (lostOnce) {
                    return std::unexpected(lost.error);
                } else {
                    lostOnce = true; // a lost judge is no verdict: once more, on a fresh one
                    tell(Stage::Verify, lost.error.message);
                    m_judge->submit(job());
                }
            }
        }
    }

    void finish(Evaluation evaluation)
    {
        evaluation.build = m_evaluation.build;
        evaluation.evidence.insert(evaluation.evidence.end(), m_evaluation.evidence.begin(),
                                   m_evaluation.evidence.end());
        if (!evaluation.verify) {
            evaluation.verify = m_verified;
        }
        m_evaluation = std::move(evaluation);
    }

    const OneShotRequest& m_request;
    const EngineParts& m_parts;
    const Progress& m_progress;
    std::stop_token m_stop;
    std::shared_ptr<const Task> m_task;
    std::optional<Incumbent> m_incumbent;
    std::unique_ptr<Evaluator> m_judge;
    JudgeHello m_hello;
    std::vector<RequestId> m_awaited;
    std::map<RequestId, BuildResult> m_built;
    std::optional<VerifyRecord> m_verified;
    Evaluation m_evaluation;
};

} // namespace

Result<OneShotResult> evaluateOnce(const OneShotRequest& request, const Progress& progress, std::stop_token stop)
{
    EngineOptions options;
    options.launcher = request.launcher;
    options.builders = request.builders;
    return evaluateOnce(request, realParts(options), progress, std::move(stop));
}

Result<OneShotResult> evaluateOnce(const OneShotRequest& request, const EngineParts& parts, const Progress& progress,
                                   std::stop_token stop)
{
    return OneShot(request, parts, progress, std::move(stop)).run();
}

} // namespace espalier
