// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "views/roofline_geometry.h"
#include "views/theme.h"

#include <QFont>
#include <vector>

class QPainter;

namespace espalier {

/// What of a chart is looked at.
struct RooflineFocus {
    std::optional<MemoryLevel> level = MemoryLevel::Dram; ///< whose bytes give the intensity; nullopt: all at once
    std::optional<NodeId> selected, baseline, best;
    std::vector<NodeId> kept; ///< for comparing
    bool isolated = false;    ///< only the selected candidate's lineage and the best's
};

/// A point as it stands on the picture.
struct PlacedPoint {
    const RooflinePoint* point = nullptr;
    MemoryLevel level = MemoryLevel::Dram;
    QPointF at;
    bool prominent = false; ///< selected, baseline, best, or of an isolated lineage; the others are the cloud
};

/// A chart laid out for one size: what the widget, an export and a test look at. A value; refers to `chart`.
struct RooflineLayout {
    RooflineScale scale;
    std::vector<DrawnRoof> roofs;
    std::vector<PlacedPoint> points;                 ///< the cloud first
    std::vector<std::pair<QPointF, QPointF>> arrows; ///< parent to child, and on to the best
    std::vector<std::pair<QRectF, QString>> labels;  ///< of prominent points
    std::vector<QLineF> leaders;                     ///< from a point to a label that is not beside it
    const PlacedPoint* nearest(const QPointF& place, double within) const;
};

RooflineLayout layOut(const RooflineChart& chart, const RooflineFocus& focus, const QSizeF& size, const QFont& font);

/// Draws it on anything: a widget, an image, an SVG.
void paintRoofline(QPainter& painter, const RooflineLayout& layout, const RooflineFocus& focus, const Theme& theme,
                   const QFont& font);

/// The card beside the pointer: name, level by level intensity and throughput, verdict, what must be checked.
QStringList cardLines(const RooflinePoint& point);
void paintCard(QPainter& painter, const RooflinePoint& point, const QPointF& at, const QRectF& within,
               const Theme& theme, const QFont& font);

} // namespace espalier
