// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/search/node_book.h"
#include "core/store/store.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// What a report is made from. Refers to the book; `detail` reads one node in full.
struct ReportInput {
    SessionInfo info;
    double seconds = 0; ///< run time of the session
    std::int64_t tokens = 0;
    double usd = 0;
    const NodeBook& book;
    std::function<Result<NodeDetail>(NodeId)> detail;
    std::optional<double> idleShare;        ///< of the device, 0 to 1
    std::vector<StoredAct> acts;            ///< of the engineer
    std::map<NodeId, double> deviceSeconds; ///< that the judge spent on each node
    std::vector<std::string> hints;         ///< as they stand
    std::vector<BannedTechnique> bans;
    std::vector<std::string> remarks; ///< what figures of another device or of an earlier edition are worth
};

/// Writes report.md, report.html (self-contained) and the curves beside the Markdown into `folder`, which is created
/// where it is missing: the best of the author's and the best found, apart; the best lineage with ideas and diffs; the
/// best so far against evaluations and cost (money, device time); what failed and why; settings and seed. Returns the
/// files. Thread: any. Errors: those of reading nodes, Io naming the file that cannot be written.
Result<std::vector<std::string>> writeReport(const ReportInput& input, const std::filesystem::path& folder);

} // namespace espalier
