// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/read_session.h"
#include "app/ctl/verbs.h"
#include "core/report/run_report.h"

#include <utility>

namespace espalier::ctl {

namespace {

Result<std::vector<std::string>> reported(const ReportVerb& options)
{
    ESPALIER_TRY(const SessionReader reader, readSession(options.session));
    ESPALIER_TRY(std::vector<StoredAct> acts, reader.acts());
    ESPALIER_TRY(std::vector<std::string> hints, reader.hints());
    ESPALIER_TRY(std::vector<BannedTechnique> bans, reader.bans());
    ESPALIER_TRY(std::vector<std::string> remarks, reader.remarks());
    const ReportInput input{
        reader.info(),         reader.secondsSpent(), reader.spending().tokens(),
        reader.spending().usd, reader.book(),         [&reader](NodeId id) { return reader.detail(id); },
        reader.idleShare(),    std::move(acts),       reader.deviceSeconds(),
        std::move(hints),      std::move(bans),       std::move(remarks)};
    return writeReport(input, options.folder);
}

} // namespace

int report(const ReportVerb& options)
{
    const auto files = reported(options);
    if (!files) {
        return failWith(files.error(), options.json);
    }
    if (options.json) {
        printJson({{"files", *files}});
    } else {
        for (const std::string& file : *files) {
            print(file);
        }
    }
    return exitOk;
}

} // namespace espalier::ctl
