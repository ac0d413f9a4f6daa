// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/roofline_chart.h"

#include <QLineF>
#include <QPolygonF>
#include <QRectF>
#include <functional>

namespace espalier {

/// Where intensity and rate lie on the picture: both axes in powers of ten.
struct RooflineScale {
    QRectF plot;
    double xLow = -2, xHigh = 3;
    double yLow = 1, yHigh = 6;
    QPointF place(double intensity, double gflops) const;
};

/// Holds every point and every ridge, with some air; whole decades where that costs little.
RooflineScale scaleFor(const RooflineChart& chart, const QRectF& plot);

/// One roof as it is drawn. Labels of two roofs never overlap.
struct DrawnRoof {
    const ChartRoof* roof = nullptr;
    bool bandwidth = false;
    QLineF line;
    QString text;
    QPointF labelCentre;
    QSizeF labelSize;
    double angle = 0;             ///< degrees, clockwise as QPainter turns
    std::optional<QLineF> leader; ///< from the line's end to a label that had to move
    QPolygonF labelArea() const;
};

using Measure = std::function<QSizeF(const QString&)>;

/// Bandwidths rise along their label, rates end at a label in the margin to the right of the plot. `brief`: names
/// without figures, for small pictures. A label for which there is no room is left out: its text is empty.
std::vector<DrawnRoof> roofLines(const RooflineChart& chart, const RooflineScale& scale, const Measure& measure,
                                 bool brief);

/// Places for labels of points, each beside its point and clear of what is there already; nullopt where there is none.
std::vector<std::optional<QRectF>> placeLabels(const std::vector<QPointF>& points, const std::vector<QSizeF>& sizes,
                                               std::vector<QRectF> taken, const QRectF& within);

/// Spreads centres so that neighbours are at least `gap` apart, in order, within [low, high] where that is possible.
std::vector<double> spread(std::vector<double> centres, double gap, double low, double high);

} // namespace espalier
