// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/pair_text.h"

#include "app/ctl/output.h"
#include "core/analysis/pair_comparison.h"
#include "core/diff/text_diff.h"
#include "core/engine/listing_desk.h"
#include "core/model/evaluation_json.h"
#include "core/model/metric.h"
#include "core/model/node_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace espalier::ctl {

namespace {

struct Row {
    std::string what, first, second;
};

std::string timeWithInterval(const CaseTiming& timing)
{
    const std::string value = timeText(timing.timeUs.value, timing.provenance);
    return timing.provenance == Provenance::Model
               ? value
               : fmt::format("{} [{:.4g}, {:.4g}]", value, timing.timeUs.low, timing.timeUs.high);
}

const CaseTiming* caseOf(const Evaluation& evaluation, const std::string& id)
{
    const auto& timing = evaluation.timing;
    const auto found = timing ? std::find_if(timing->cases.begin(), timing->cases.end(),
                                             [&](const CaseTiming& one) { return one.caseId == id; })
                              : std::vector<CaseTiming>::const_iterator();
    return timing && found != timing->cases.end() ? &*found : nullptr;
}

/// "31, 40": of all kernels, in the code's order.
template <typename Field>
std::string ofKernels(const Evaluation& evaluation, Field field)
{
    std::string text;
    for (const KernelResources& kernel :
         evaluation.build ? evaluation.build->kernels : std::vector<KernelResources>()) {
        text += (text.empty() ? "" : ", ") + fmt::to_string(kernel.*field);
    }
    return text.empty() ? "-" : text;
}

/// The ids of both lists, the first one's order first.
template <typename List, typename Name>
std::vector<std::string> namesIn(const List& first, const List& second, Name name)
{
    std::vector<std::string> names;
    for (const List* list : {&first, &second}) {
        for (const auto& one : *list) {
            if (std::find(names.begin(), names.end(), name(one)) == names.end()) {
                names.push_back(name(one));
            }
        }
    }
    return names;
}

std::string metricOf(const Evaluation& evaluation, const std::string& id)
{
    const auto found = std::find_if(evaluation.metrics.begin(), evaluation.metrics.end(),
                                    [&](const MetricValue& one) { return one.id == id; });
    return found == evaluation.metrics.end()
               ? "-"
               : (found->provenance == Provenance::Model ? "≈" : "") + metricText(id, found->value);
}

std::vector<Row> rowsOf(const NodeDetail& first, const NodeDetail& second)
{
    const Evaluation &one = first.evaluation, &other = second.evaluation;
    std::vector<Row> rows = {{"outcome", outcomeText(first.summary), outcomeText(second.summary)}};
    const auto casesOf = [](const Evaluation& of) { return of.timing ? of.timing->cases : std::vector<CaseTiming>(); };
    for (const std::string& id :
         namesIn(casesOf(one), casesOf(other), [](const CaseTiming& timing) { return timing.caseId; })) {
        const CaseTiming *left = caseOf(one, id), *right = caseOf(other, id);
        rows.push_back({"time " + id, left ? timeWithInterval(*left) : "-", right ? timeWithInterval(*right) : "-"});
    }
    const auto add = [&](const char* what, auto field) {
        rows.push_back({what, ofKernels(one, field), ofKernels(other, field)});
    };
    add("registers", &KernelResources::registers);
    add("shared, B", &KernelResources::sharedBytes);
    add("spilled, B", &KernelResources::spillStoreBytes);
    // Counts of two cases say nothing of each other.
    if (one.profile && other.profile && one.profile->caseId == other.profile->caseId) {
        for (const std::string& id :
             namesIn(one.metrics, other.metrics, [](const MetricValue& metric) { return metric.id; })) {
            const Metric* known = findMetric(id);
            Row row{known ? std::string(known->name) : id, metricOf(one, id), metricOf(other, id)};
            if (row.first != row.second) {
                rows.push_back(std::move(row));
            }
        }
    }
    return rows;
}

/// What is compared line by line, and what it is called.
struct Text {
    std::string name, content;
};

Result<Text> textOf(const NodeDetail& detail, const ShowVerb& options)
{
    const std::int64_t id = detail.summary.id.value;
    if (!options.ptx && !options.sass) {
        return Text{fmt::format("node_{}.cu", id), detail.source};
    }
    const auto& build = detail.evaluation.build;
    const CodeListings listings =
        readListings(realListingSource(), detail.summary.id, build ? build->key : std::string());
    const Listing& listing = options.sass ? listings.sass : listings.ptx;
    if (!listing.missing.empty()) {
        return fail(ErrorCode::NotFound, fmt::format("Node {}: {}", id, listing.missing));
    }
    Text text{fmt::format("node_{}.{}", id, options.sass ? "sass" : "ptx"), ""};
    for (const ListingLine& line : listing.lines) {
        text.content += line.text + "\n";
    }
    return text;
}

Result<NodeDetail> candidate(const SessionReader& reader, std::int64_t id)
{
    ESPALIER_TRY(NodeDetail detail, reader.detail(NodeId{id}));
    if (detail.summary.kind == NodeKind::Idea) {
        return fail(ErrorCode::InvalidInput,
                    fmt::format("Node {} is an idea and has no source: name roots or candidates.", id));
    }
    return detail;
}

Json sideJson(const NodeDetail& detail)
{
    Json json = {{"node", detail.summary.id.value},
                 {"title", detail.summary.title},
                 {"outcome", nameOf(detail.summary.outcome)},
                 {"time_us", detail.summary.timeUs ? toJson(*detail.summary.timeUs) : Json(nullptr)},
                 {"cases", Json::array()},
                 {"kernels", Json::array()},
                 {"metrics", Json::array()}};
    for (const CaseTiming& one :
         detail.evaluation.timing ? detail.evaluation.timing->cases : std::vector<CaseTiming>()) {
        json["cases"].push_back({{"case", one.caseId}, {"time_us", toJson(one.timeUs)}});
    }
    for (const KernelResources& one :
         detail.evaluation.build ? detail.evaluation.build->kernels : std::vector<KernelResources>()) {
        json["kernels"].push_back(toJson(one));
    }
    for (const MetricValue& one : detail.evaluation.metrics) {
        json["metrics"].push_back(toJson(one));
    }
    return json;
}

void printRows(const NodeDetail& first, const NodeDetail& second)
{
    std::vector<Row> rows = rowsOf(first, second);
    const auto title = [](const NodeDetail& detail) { return fmt::format("node {}", detail.summary.id.value); };
    rows.insert(rows.begin(), {"", title(first), title(second)});
    std::size_t widest = 0, left = 0;
    for (const Row& row : rows) {
        widest = std::max(widest, row.what.size());
        left = std::max(left, fmt::formatted_size("{}", row.first));
    }
    for (const Row& row : rows) {
        print(fmt::format("{:<{}}  {:<{}}  {}", row.what, widest, row.first, left, row.second));
    }
}

Result<int> shown(const SessionReader& reader, const ShowVerb& options)
{
    ESPALIER_TRY(const NodeDetail first, candidate(reader, options.pair[0]));
    ESPALIER_TRY(const NodeDetail second, candidate(reader, options.pair[1]));
    const PairVerdict verdict =
        comparePair({first.summary, first.parentCandidate}, {second.summary, second.parentCandidate});
    ESPALIER_TRY(const Text left, textOf(first, options));
    ESPALIER_TRY(const Text right, textOf(second, options));
    const TextDiff diff = diffTexts(left.content, right.content);
    const std::string unified = unifiedText(diff, left.content, right.content, left.name, right.name);
    if (options.json) {
        printJson({{"first", sideJson(first)},
                   {"second", sideJson(second)},
                   {"speedup", verdict.speedup ? toJson(*verdict.speedup) : Json(nullptr)},
                   {"comparison", verdict.speedup ? Json(statistics::nameOf(verdict.comparison)) : Json(nullptr)},
                   {"timed_together", verdict.together},
                   {"sentence", verdict.sentence},
                   {"diff", unified}});
        return exitOk;
    }
    for (const NodeDetail* side : {&first, &second}) {
        print(fmt::format("node {}: {}", side->summary.id.value, side->summary.title));
    }
    print(verdict.sentence);
    printRows(first, second);
    print(diff.same() ? fmt::format("{} and {} are the same.", left.name, right.name)
                      : fmt::format("\n{}", unified.substr(0, unified.find_last_not_of('\n') + 1)));
    return exitOk;
}

} // namespace

int showPair(const SessionReader& reader, const ShowVerb& options)
{
    const auto code = shown(reader, options);
    return code ? *code : failWith(code.error(), options.json);
}

} // namespace espalier::ctl
