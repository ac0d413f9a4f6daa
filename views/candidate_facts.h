// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/metric_rows.h"
#include "views/roofline_chart.h"

#include <memory>

namespace espalier {

/// What profiling left of one candidate, as charts and tables of many candidates need it: without its source, samples
/// and records. A value; thread: any.
struct CandidateFacts {
    NodeId node{0};
    MetricColumn column;
    std::vector<MetricRow> metrics; ///< one cell each
    std::optional<RooflinePoint> point;
    std::vector<ChartRoof> bandwidths, rates;
    QString why; ///< no metrics, or not all of them: cause and remedy

    bool profiled() const { return !metrics.empty() || point.has_value(); }
};

/// The one place where profile records become what the views show.
CandidateFacts factsOf(const NodeDetail& detail);

/// Side by side, in the given order; every metric that any of them has, in the table's order.
MetricTable tableOf(const std::vector<std::shared_ptr<const CandidateFacts>>& candidates);

} // namespace espalier
