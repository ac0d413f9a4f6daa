// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/output.h"
#include "app/ctl/read_session.h"
#include "app/ctl/verbs.h"
#include "core/analysis/fresh_runs.h"
#include "core/model/evaluation_json.h"
#include "core/model/node_text.h"
#include "core/report/progress_curve.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <vector>

namespace espalier::ctl {

namespace {

/// What of a session is held against another.
struct Side {
    SessionInfo info;
    double seconds = 0;
    EvaluationCounts counts;
    std::optional<ProgressPoint> end;   ///< of its curve
    std::optional<std::int64_t> bestAt; ///< after so many evaluations
    std::optional<NodeDetail> best;

    static Result<Side> of(const std::string& file)
    {
        ESPALIER_TRY(const SessionReader reader, readSession(file));
        Side side;
        side.info = reader.info();
        side.seconds = reader.secondsSpent();
        side.counts = reader.book().counts();
        for (const ProgressPoint& point : progressOf(reader.book(), reader.deviceSeconds())) {
            side.bestAt = point.improved ? point.evaluations : side.bestAt;
            side.end = point;
        }
        if (const auto best = reader.book().best()) {
            ESPALIER_TRY(side.best, reader.detail(*best));
        }
        return side;
    }

    const std::vector<CaseTiming>& cases() const
    {
        static const std::vector<CaseTiming> none;
        return best && best->evaluation.timing ? best->evaluation.timing->cases : none;
    }
    /// Of the best one, which there is; nullopt: it was never timed against the task's root, which is node 1.
    std::optional<Interval> overRoot() const
    {
        const NodeSummary& node = best->summary;
        return node.id == NodeId{1} ? Interval{1, 1, 1} : node.speedupRoot;
    }
    Provenance provenance() const
    {
        return best ? best->summary.provenance.value_or(info.provenance) : info.provenance;
    }
};

/// Why no ratio may be formed; empty: it may.
std::string obstacle(const Side& first, const Side& second)
{
    if (!first.best || !second.best || !first.best->summary.timeUs || !second.best->summary.timeUs) {
        return "One of them has no best candidate yet.";
    }
    if (first.info.taskHash != second.info.taskHash) {
        return "Their tasks have the same name and other contents: the figures are not comparable.";
    }
    for (const Side* side : {&first, &second}) {
        const NodeSummary& best = side->best->summary;
        if (best.olderEdition) {
            return fmt::format("Node {} of {} was judged under an earlier edition of the task: its figures are not "
                               "comparable until it is timed again.",
                               best.id.value, side->info.file);
        }
        if (!side->overRoot()) {
            return fmt::format("Node {} of {} was never timed against the root: its figures are not comparable.",
                               best.id.value, side->info.file);
        }
    }
    if (first.provenance() != second.provenance()) {
        return "One is measured and the other modelled: the figures are not comparable; each stands against its own "
               "root.";
    }
    if (first.best->summary.epoch != second.best->summary.epoch) {
        return "Device, driver, toolkit or flags differ: times are not comparable; each stands against its own root "
               "and "
               "library.";
    }
    return "";
}

/// The second session's best over the first one's, in one epoch: each against the root, with both errors.
std::optional<Interval> ratioOf(const Side& first, const Side& second)
{
    return obstacle(first, second).empty() ? std::optional(statistics::quotient(*second.overRoot(), *first.overRoot()))
                                           : std::nullopt;
}

std::string verdictText(const Side& first, const Side& second)
{
    const auto ratio = ratioOf(first, second);
    if (!ratio) {
        return obstacle(first, second);
    }
    const bool modelled = first.provenance() == Provenance::Model;
    const auto comparison = statistics::compare(*ratio, modelled ? 0 : statistics::leastDifference);
    return fmt::format("The second one's best is {} as fast as the first one's: {}.",
                       speedupText(*ratio, first.provenance()),
                       comparison == statistics::Comparison::Tie      ? "a tie"
                       : comparison == statistics::Comparison::Faster ? "it is faster"
                                                                      : "it is slower");
}

std::string caseText(const CaseTiming& timing)
{
    std::string text = timeText(timing.timeUs.value, timing.provenance);
    if (timing.provenance == Provenance::Measured) {
        text += fmt::format(" [{:.4g}, {:.4g}]", timing.timeUs.low, timing.timeUs.high);
    }
    const auto over = [&](const std::optional<Interval>& speedup, const std::string& rival) {
        text += speedup ? fmt::format(", {} of {}", speedupText(*speedup, timing.provenance), rival) : "";
    };
    over(timing.speedupRoot, "the root");
    over(timing.speedupIncumbent, "the incumbent");
    for (const auto& [id, speedup] : timing.speedupBaselines) {
        over(speedup, id);
    }
    return text;
}

void printSide(const char* which, const Side& side)
{
    print(fmt::format("{} {}: {} on {} ({}), {}", which, side.info.file, side.info.taskId,
                      side.info.deviceName.empty() ? "no device yet" : side.info.deviceName, nameOf(side.provenance()),
                      side.counts.inWords()));
    if (side.best) {
        const NodeSummary& node = side.best->summary;
        print(fmt::format("  best: node {}, {}, by {}{}", node.id.value, node.title,
                          node.proposer.empty() ? "the task's author" : node.proposer,
                          side.bestAt ? fmt::format(", found after {} evaluations", *side.bestAt) : ""));
    }
    if (side.end) {
        print(fmt::format(
            "  the curve ends at {}{:.3f}x of the root after {} evaluations, {:.1f} s of the device and {:.2f} USD",
            side.provenance() == Provenance::Model ? "≈" : "", side.end->best, side.end->evaluations,
            side.end->deviceSeconds, side.end->usd));
    }
    for (const CaseTiming& timing : side.cases()) {
        print(fmt::format("  {}: {}", timing.caseId, caseText(timing)));
    }
}

Json sideJson(const Side& side)
{
    Json json = {{"file", side.info.file},
                 {"device_name", side.info.deviceName},
                 {"provenance", nameOf(side.provenance())},
                 {"epoch", side.info.epoch},
                 {"evaluations", side.counts.evaluations},
                 {"seconds", side.seconds},
                 {"best", side.best ? Json(side.best->summary.id.value) : Json(nullptr)},
                 {"curve_end", side.end ? Json(side.end->best) : Json(nullptr)},
                 {"cases", Json::array()}};
    for (const CaseTiming& timing : side.cases()) {
        json["cases"].push_back({{"case", timing.caseId},
                                 {"time_us", toJson(timing.timeUs)},
                                 {"speedup_root", timing.speedupRoot ? toJson(*timing.speedupRoot) : Json(nullptr)}});
    }
    return json;
}

Result<int> compared(const CompareVerb& options)
{
    ESPALIER_TRY(const Side first, Side::of(options.first));
    ESPALIER_TRY(const Side second, Side::of(options.second));
    if (first.info.taskId != second.info.taskId) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("{} is a search on {} and {} one on {}: name two sessions of one task.", options.first,
                                first.info.taskId, options.second, second.info.taskId));
    }
    if (options.json) {
        const auto ratio = ratioOf(first, second);
        printJson({{"task", first.info.taskId},
                   {"first", sideJson(first)},
                   {"second", sideJson(second)},
                   {"comparable", ratio.has_value()},
                   {"speedup", ratio ? toJson(*ratio) : Json(nullptr)},
                   {"sentence", verdictText(first, second)}});
        return exitOk;
    }
    printSide("1", first);
    printSide("2", second);
    print(verdictText(first, second));
    return exitOk;
}

} // namespace

int compare(const CompareVerb& options)
{
    const auto code = compared(options);
    return code ? *code : failWith(code.error(), options.json);
}

} // namespace espalier::ctl
