// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/stop_on_interrupt.h"
#include "app/ctl/verbs.h"
#include "core/engine/audit.h"
#include "core/model/evaluation_json.h"

#include <fmt/format.h>

namespace espalier::ctl {

namespace {

/// What ended it: the check and the sentence.
std::string verdictText(const Evaluation& evaluation)
{
    const std::string check =
        evaluation.evidence.empty() ? "" : fmt::format("[{}] ", evaluation.evidence.front().check);
    return evaluation.outcome == Outcome::Passed
               ? std::string("passed")
               : fmt::format("{}: {}{}", nameOf(evaluation.outcome), check, evaluation.reason);
}

Json jsonOf(const AuditReport& report)
{
    Json rows = Json::array();
    for (const AuditRow& row : report.rows) {
        rows.push_back({{"id", row.id},
                        {"title", row.title},
                        {"state", nameOf(row.state)},
                        {"outcome", nameOf(row.evaluation.outcome)},
                        {"reason", row.evaluation.reason},
                        {"finding", row.finding},
                        {"evidence", Json::array()}});
        for (const Evidence& evidence : row.evaluation.evidence) {
            rows.back()["evidence"].push_back(toJson(evidence));
        }
    }
    return {{"task", report.task},
            {"device", report.device.deviceId},
            {"fit", report.fit()},
            {"complete", report.complete()},
            {"rows", std::move(rows)}};
}

void printTable(const AuditReport& report)
{
    for (const AuditRow& row : report.rows) {
        print(
            fmt::format("{:<14} {:<16} {:<52} {}", nameOf(row.state), row.id, row.title, verdictText(row.evaluation)));
        if (!row.finding.empty()) {
            print(fmt::format("{:<14} {}", "", row.finding));
        }
    }
    print(report.fit() ? fmt::format("{} is fit to be searched{}.", report.task,
                                     report.complete() ? "" : ", as far as there are verdicts")
                       : fmt::format("{} is not fit to be searched: see the rows marked bad.", report.task));
}

} // namespace

int audit(const AuditVerb& options)
{
    const StopOnInterrupt interrupt;
    AuditRequest request;
    request.task = options.task;
    request.device = options.device;
    const auto report = auditTask(
        request, [](const AuditRow& row) { note(fmt::format("{}: {}", row.id, nameOf(row.evaluation.outcome))); },
        interrupt.token());
    if (!report) {
        return report.error().code == ErrorCode::Cancelled ? exitInterrupted : failWith(report.error(), options.json);
    }
    if (options.json) {
        printJson(jsonOf(*report));
    } else {
        printTable(*report);
    }
    if (interrupt.token().stop_requested()) {
        return exitInterrupted;
    }
    if (!report->fit() && report->rows.front().state != AuditRow::State::NotRun) {
        return exitCodeOf(Outcome::Incorrect);
    }
    return report->complete() ? exitOk : exitNotRun;
}

} // namespace espalier::ctl
