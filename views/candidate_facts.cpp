// SPDX-License-Identifier: GPL-3.0-only
#include "views/candidate_facts.h"

#include "core/analysis/roofline.h"
#include "core/model/metric.h"
#include "views/format.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("facts", source);
}

BetterWhen directionOf(Better better)
{
    return better == Better::Lower    ? BetterWhen::Lower
           : better == Better::Higher ? BetterWhen::Higher
                                      : BetterWhen::Neither;
}

MetricRow rowFor(const MetricValue& value)
{
    MetricRow row;
    row.id = value.id;
    row.name = format::text(value.id);
    double peak = value.peak;
    if (const Metric* metric = findMetric(value.id)) {
        row.name = format::text(metric->name);
        row.group = format::text(metric->group);
        row.unit = format::text(metric->unit);
        row.description = format::text(metric->description);
        row.better = directionOf(metric->better);
        peak = peak > 0 ? peak : metric->peak;
    }
    row.cells = {MetricCell{value.value, peak}};
    return row;
}

/// Known metrics in the table's order, unknown ones behind them.
std::vector<MetricRow> rowsOf(const std::vector<MetricValue>& values)
{
    std::map<std::string_view, int> order;
    for (const Metric& metric : metricTable()) {
        order.emplace(metric.id, int(order.size()));
    }
    std::vector<const MetricValue*> sorted;
    for (const MetricValue& value : values) {
        sorted.push_back(&value);
    }
    const auto placeOf = [&](const MetricValue* value) {
        const auto found = order.find(value->id);
        return found == order.end() ? int(order.size()) : found->second;
    };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const MetricValue* a, const MetricValue* b) { return placeOf(a) < placeOf(b); });
    std::vector<MetricRow> rows;
    for (const MetricValue* value : sorted) {
        rows.push_back(rowFor(*value));
    }
    return rows;
}

QString sourceOf(const ProfileRecord& profile)
{
    QString text = format::text(profile.tool);
    if (!profile.chip.empty()) {
        text += tr(" on %1").arg(format::text(profile.chip));
    }
    text += tr(", case %1").arg(format::text(profile.caseId));
    if (profile.passes > 0) {
        text += tr(", %1 counted calls").arg(profile.passes);
    }
    return text;
}

QString whyIncomplete(const Evaluation& evaluation)
{
    if (!evaluation.profile) {
        return tr("This candidate was not profiled. A search profiles what it promotes where the device can count; "
                  "espalierctl eval --profile takes the counters of one kernel now.");
    }
    QStringList notes;
    for (const CollectorRun& run : evaluation.profile->collectors) {
        if (!run.done && !run.note.empty()) {
            notes += format::text(run.note);
        }
    }
    notes.removeDuplicates();
    return notes.join(QLatin1Char(' '));
}

std::optional<RooflinePoint> pointOf(const NodeDetail& detail)
{
    const auto roofline = rooflineOf(detail.evaluation);
    if (!roofline) {
        return std::nullopt;
    }
    RooflinePoint point;
    point.node = detail.summary.id;
    point.parent = detail.parentCandidate;
    point.title = format::text(detail.summary.title);
    point.provenance = roofline->provenance;
    point.timeUs = roofline->timeUs;
    point.gflops = roofline->gflops;
    point.sentence = format::text(roofline->sentence);
    for (const std::string& check : roofline->checks) {
        point.checks += format::text(check);
    }
    for (const RooflineLevel& level : roofline->levels) {
        const int index = level.id == "dram" ? 0 : level.id == "l2" ? 1 : level.id == "l1" ? 2 : -1;
        if (index >= 0) {
            point.levels[std::size_t(index)] = {level.intensity, level.gbs, level.percent};
        }
    }
    return point;
}

} // namespace

CandidateFacts factsOf(const NodeDetail& detail)
{
    const Evaluation& evaluation = detail.evaluation;
    CandidateFacts facts;
    facts.node = detail.summary.id;
    facts.column.node = detail.summary.id;
    facts.column.title = format::text(detail.summary.title);
    facts.metrics = rowsOf(evaluation.metrics);
    facts.point = pointOf(detail);
    facts.why = whyIncomplete(evaluation);
    // Unknown provenance counts as modelled.
    const bool measured =
        !evaluation.metrics.empty() &&
        std::all_of(evaluation.metrics.begin(), evaluation.metrics.end(),
                    [](const MetricValue& value) { return value.provenance == Provenance::Measured; });
    facts.column.provenance = measured ? Provenance::Measured : Provenance::Model;
    if (evaluation.profile) {
        facts.column.source = sourceOf(*evaluation.profile);
        facts.column.comparable =
            format::text(evaluation.profile->caseId) + QLatin1Char('@') + format::text(evaluation.epoch);
        for (const Roof& roof : evaluation.profile->roofs) {
            // Of a level's roofs ("dram", "dram_copy", "dram_write") the level's own; what is no level is arithmetic.
            const auto isOf = [&](const std::string& level) {
                return roof.id == level || roof.id.starts_with(level + "_");
            };
            if (roof.id == "dram" || roof.id == "l2" || roof.id == "l1") {
                facts.bandwidths.push_back({roof.id, roof.measured, roof.theory});
            } else if (!isOf("dram") && !isOf("l2") && !isOf("l1")) {
                facts.rates.push_back({roof.id, roof.measured, roof.theory});
            }
        }
    }
    return facts;
}

MetricTable tableOf(const std::vector<std::shared_ptr<const CandidateFacts>>& candidates)
{
    MetricTable table;
    std::map<std::string, std::size_t> rowOf;
    for (std::size_t column = 0; column < candidates.size(); ++column) {
        table.columns.push_back(candidates[column]->column);
        for (const MetricRow& metric : candidates[column]->metrics) {
            const auto [place, fresh] = rowOf.emplace(metric.id, table.rows.size());
            if (fresh) {
                table.rows.push_back(metric);
                table.rows.back().cells.assign(candidates.size(), std::nullopt);
            }
            table.rows[place->second].cells[column] = metric.cells.front();
        }
    }
    return table;
}

} // namespace espalier
