// SPDX-License-Identifier: GPL-3.0-only
#include "views/metric_rows.h"

#include "views/format.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace espalier {

MetricChange changeOf(const MetricTable& table, const MetricRow& row, std::size_t column, double noisePercent)
{
    MetricChange change;
    if (column == 0 || column >= row.cells.size() || !row.cells[0] || !row.cells[column]) {
        return change;
    }
    const MetricColumn &base = table.columns[0], &own = table.columns[column];
    if (base.provenance != own.provenance || base.comparable != own.comparable) {
        change.kind = Change::Incomparable;
        return change;
    }
    const double before = row.cells[0]->value, after = row.cells[column]->value;
    constexpr double dust = 1e-12; ///< of the value: what arithmetic leaves of equal figures
    change.delta = after - before;
    if (std::abs(change.delta) <= dust * std::abs(before)) {
        change.delta = 0;
    }
    if (before != 0) {
        change.percent = 100 * change.delta / std::abs(before);
    }
    const double size = change.percent ? std::abs(*change.percent) : change.delta == 0 ? 0 : HUGE_VAL;
    if (size <= noisePercent || change.delta == 0) {
        change.kind = Change::Noise;
    } else if (row.better == BetterWhen::Neither) {
        change.kind = Change::Different;
    } else {
        change.kind = (change.delta < 0) == (row.better == BetterWhen::Lower) ? Change::Better : Change::Worse;
    }
    return change;
}

double fillOf(const MetricRow& row, std::size_t column)
{
    if (column >= row.cells.size() || !row.cells[column]) {
        return 0;
    }
    double whole = row.cells[column]->peak;
    if (whole <= 0) {
        for (const auto& cell : row.cells) {
            whole = std::max(whole, cell ? std::abs(cell->value) : 0);
        }
    }
    return whole > 0 ? std::clamp(std::abs(row.cells[column]->value) / whole, 0.0, 1.0) : 0;
}

QString metricFigure(double value, const QString& unit)
{
    const QChar gap(0xa0);
    if (!std::isfinite(value)) {
        return QStringLiteral("–");
    }
    if (unit == QLatin1String("us")) {
        return format::time(value, Provenance::Measured);
    }
    if (unit == QLatin1String("%") || unit == QLatin1String("GB/s")) {
        return format::number(value) + gap + unit;
    }
    if (unit == QLatin1String("ratio")) {
        return format::number(value);
    }
    const bool counted = unit.isEmpty() || unit == QLatin1String("instructions");
    const QString shown = counted ? QString() : unit;
    for (const auto& [from, prefix] :
         {std::pair{1e15, "P"}, std::pair{1e12, "T"}, std::pair{1e9, "G"}, std::pair{1e6, "M"}, std::pair{1e4, "k"}}) {
        if (std::abs(value) >= from) {
            const double divisor = from == 1e4 ? 1e3 : from;
            return format::number(value / divisor) + gap + QLatin1String(prefix) + shown;
        }
    }
    const QString whole = value == std::round(value) ? QString::number(value, 'f', 0) : format::number(value);
    return shown.isEmpty() ? whole : whole + gap + shown;
}

QString changeWord(Change change)
{
    const auto tr = [](const char* text) { return QCoreApplication::translate("metrics", text); };
    switch (change) {
    case Change::None:
        return {};
    case Change::Incomparable:
        return tr("not comparable: one is measured and the other modelled, or they are of different cases");
    case Change::Noise:
        return tr("within the noise");
    case Change::Better:
        return tr("better");
    case Change::Worse:
        return tr("worse");
    case Change::Different:
        return tr("different; neither direction is a merit in itself");
    }
    return {};
}

} // namespace espalier
