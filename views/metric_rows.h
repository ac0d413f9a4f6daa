// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QString>
#include <optional>
#include <vector>

namespace espalier {

enum class BetterWhen { Lower, Higher, Neither };

/// One value of one candidate.
struct MetricCell {
    double value = 0;
    double peak = 0; ///< the most it could be on this device, in the metric's unit; 0: none is known
    bool operator==(const MetricCell&) const = default;
};

/// One metric over the compared candidates.
struct MetricRow {
    std::string id;
    QString group, name, unit, description;
    BetterWhen better = BetterWhen::Neither;
    std::vector<std::optional<MetricCell>> cells; ///< by candidate; none: not taken
    bool operator==(const MetricRow&) const = default;
};

/// A column: whose values these are.
struct MetricColumn {
    NodeId node{0};
    QString title;
    Provenance provenance = Provenance::Model;
    QString source;     ///< "CUPTI 13.0.1 on GH100, case 4096x65536"; for the header's tooltip
    QString comparable; ///< what must agree for differences to mean something: the case
    bool operator==(const MetricColumn&) const = default;
};

/// What the metric table shows; the first column is what the others are compared with. A value; thread: any.
struct MetricTable {
    std::vector<MetricColumn> columns;
    std::vector<MetricRow> rows;
    bool operator==(const MetricTable&) const = default;
};

enum class Change {
    None,         ///< nothing to compare
    Incomparable, ///< one is measured, the other modelled; or of different cases
    Noise,        ///< smaller than the threshold
    Better,
    Worse,
    Different ///< neither direction is a merit
};

/// A column's value against the first one's.
struct MetricChange {
    Change kind = Change::None;
    double delta = 0;
    std::optional<double> percent; ///< of the first column's value; none where that is zero
};

MetricChange changeOf(const MetricTable& table, const MetricRow& row, std::size_t column, double noisePercent);

/// How full a value's bar is, 0 to 1: of its peak where there is one, else of the row's largest.
double fillOf(const MetricRow& row, std::size_t column);

/// "12.9 GB", "71.3 %", "412 µs", "1.07 TFLOP"; without ≈, which says where a figure comes from.
QString metricFigure(double value, const QString& unit);
QString changeWord(Change change); ///< "better", "worse", "within the noise", …

} // namespace espalier
