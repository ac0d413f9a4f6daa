// SPDX-License-Identifier: Apache-2.0
#include "core/engine/audit.h"

#include "core/engine/null_candidates.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <poll.h>

namespace espalier {
namespace {

constexpr RequestId auditRoot{1}, auditOracle{2};
constexpr std::int64_t firstNull = 3;
constexpr int auditPollMilliseconds = 200;

class Audit
{
public:
    Audit(const AuditRequest& request, const EngineParts& parts, const std::function<void(const AuditRow&)>& done,
          std::stop_token stop)
        : m_request(request), m_parts(parts), m_done(done), m_stop(std::move(stop))
    {
    }

    Result<AuditReport> run()
    {
        ESPALIER_TRY(Task task, m_parts.loadTask(m_request.task));
        m_task = std::make_shared<const Task>(std::move(task));
        m_nulls = nullCandidates(*m_task);
        ESPALIER_TRY(m_judge, m_parts.startJudge(m_request.device));
        m_pool = m_parts.makeBuildPool();
        AuditReport report{m_task->id, m_judge->hello(), {}};
        submitBuilds();
        ESPALIER_TRY(m_rootLibrary, needed(auditRoot, "root kernel"));
        ESPALIER_TRY(m_oracleLibrary, needed(auditOracle, "oracle"));
        ESPALIER_TRY(AuditRow root, judged({"root", "the task's own kernel", {}, {}}, auditRoot));
        add(report, std::move(root));
        for (std::size_t i = 0; i < m_nulls.size(); ++i) {
            ESPALIER_TRY(AuditRow row, judged(m_nulls[i], RequestId{firstNull + static_cast<std::int64_t>(i)}));
            add(report, std::move(row));
        }
        return report;
    }

private:
    void add(AuditReport& report, AuditRow row)
    {
        settle(row);
        if (m_done) {
            m_done(row);
        }
        report.rows.push_back(std::move(row));
    }

    void submitBuilds()
    {
        const auto submit = [&](RequestId id, SourceRole role, const std::string& source) {
            m_pool->submit({id, m_task, role, source, {}, m_judge->hello().architecture});
        };
        submit(auditOracle, SourceRole::Oracle, m_task->oracle.source.text);
        submit(auditRoot, SourceRole::Candidate, m_task->root.text);
        for (std::size_t i = 0; i < m_nulls.size(); ++i) {
            submit(RequestId{firstNull + static_cast<std::int64_t>(i)}, SourceRole::Candidate, m_nulls[i].source);
        }
    }

    /// Nothing after a requested stop.
    const BuildResult* built(RequestId id)
    {
        while (!m_built.contains(id)) {
            if (m_stop.stop_requested()) {
                return nullptr;
            }
            pollfd polled = {m_pool->descriptor(), POLLIN, 0};
            ::poll(&polled, 1, auditPollMilliseconds);
            for (BuildResult& result : m_pool->receive()) {
                m_built.insert_or_assign(result.id, std::move(result));
            }
        }
        return &m_built.at(id);
    }

    Result<Library> needed(RequestId id, const char* what)
    {
        const BuildResult* result = built(id);
        if (!result) {
            return fail(ErrorCode::Cancelled, "The audit was interrupted.");
        }
        if (!result->library) {
            return fail(ErrorCode::InvalidInput, fmt::format("The {} of task {} does not build: {}", what, m_task->id,
                                                             result->evaluation.reason));
        }
        return *result->library;
    }

    Result<AuditRow> judged(const NullCandidate& candidate, RequestId id)
    {
        AuditRow row;
        row.id = candidate.id;
        row.title = candidate.title;
        row.finding = candidate.whenPassed;
        const BuildResult* build = built(id);
        if (!build) {
            row.evaluation.cause = NotRunCause::Cancelled;
            return row;
        }
        row.evaluation = build->evaluation;
        if (!build->library) {
            return row;
        }
        EvaluationJob job;
        job.id = id;
        job.task = m_task;
        job.candidate = *build->library;
        job.root = m_rootLibrary;
        job.oracle = m_oracleLibrary;
        job.verifyOnly = true;
        m_judge->submit(std::move(job));
        ESPALIER_TRY(Evaluation evaluation, verdict(id));
        evaluation.build = row.evaluation.build;
        row.evaluation = std::move(evaluation);
        return row;
    }

    Result<Evaluation> verdict(RequestId id)
    {
        for (bool asked = false;;) {
            const int limit = m_judge->timeoutMilliseconds();
            pollfd polled = {m_judge->descriptor(), POLLIN, 0};
            ::poll(&polled, 1, limit >= 0 ? std::min(limit, auditPollMilliseconds) : auditPollMilliseconds);
            if (m_stop.stop_requested() && !asked) {
                asked = true;
                m_judge->cancel(id);
            }
            for (evaluator::Event& event : m_judge->receive()) {
                if (auto* finished = std::get_if<evaluator::Finished>(&event); finished && finished->id == id) {
                    return std::move(finished->evaluation);
                }
                if (auto* lost = std::get_if<evaluator::Lost>(&event)) {
                    return std::unexpected(std::move(lost->error));
                }
            }
        }
    }

    static void settle(AuditRow& row)
    {
        const bool root = row.id == "root";
        switch (row.evaluation.outcome) {
        case Outcome::Passed:
            row.state = root ? AuditRow::State::Good : AuditRow::State::Bad;
            break;
        case Outcome::BuildFailed:
            row.state = root ? AuditRow::State::Bad : AuditRow::State::NotExpressed;
            break;
        case Outcome::NotRun:
            row.state = AuditRow::State::NotRun;
            break;
        default:
            row.state = root ? AuditRow::State::Bad : AuditRow::State::Good;
        }
        if (row.state != AuditRow::State::Bad) {
            row.finding.clear();
        } else if (root) {
            row.finding =
                "the task's own kernel is rejected: mend it, or state in task.json (unseen, stress, tolerance) "
                "what the operation does not promise";
        }
    }

    const AuditRequest& m_request;
    const EngineParts& m_parts;
    const std::function<void(const AuditRow&)>& m_done;
    std::stop_token m_stop;
    std::shared_ptr<const Task> m_task;
    std::vector<NullCandidate> m_nulls;
    std::unique_ptr<Evaluator> m_judge;
    std::unique_ptr<BuildPool> m_pool;
    std::map<RequestId, BuildResult> m_built;
    Library m_rootLibrary, m_oracleLibrary;
};

} // namespace

std::string_view nameOf(AuditRow::State state)
{
    switch (state) {
    case AuditRow::State::Good:
        return "good";
    case AuditRow::State::Bad:
        return "bad";
    case AuditRow::State::NotExpressed:
        return "not_expressed";
    case AuditRow::State::NotRun:
        break;
    }
    return "not_run";
}

bool AuditReport::fit() const
{
    return !rows.empty() && rows.front().state == AuditRow::State::Good &&
           std::none_of(rows.begin(), rows.end(),
                        [](const AuditRow& row) { return row.state == AuditRow::State::Bad; });
}

bool AuditReport::complete() const
{
    const bool tried = std::any_of(rows.begin(), rows.end(), [](const AuditRow& row) {
        return row.id != "root" && (row.state == AuditRow::State::Good || row.state == AuditRow::State::Bad);
    });
    return tried && std::none_of(rows.begin(), rows.end(),
                                 [](const AuditRow& row) { return row.state == AuditRow::State::NotRun; });
}

Result<AuditReport> auditTask(const AuditRequest& request, const std::function<void(const AuditRow&)>& done,
                              std::stop_token stop)
{
    EngineOptions options;
    options.builders = request.builders;
    return auditTask(request, realParts(options), done, std::move(stop));
}

Result<AuditReport> auditTask(const AuditRequest& request, const EngineParts& parts,
                              const std::function<void(const AuditRow&)>& done, std::stop_token stop)
{
    return Audit(request, parts, done, std::move(stop)).run();
}

} // namespace espalier
