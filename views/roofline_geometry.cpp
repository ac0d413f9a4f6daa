// SPDX-License-Identifier: GPL-3.0-only
#include "views/roofline_geometry.h"

#include <QCoreApplication>
#include <QTransform>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace espalier {

namespace {

constexpr double air = 0.35; ///< decades between the outermost point and the frame

double highest(const std::vector<ChartRoof>& roofs)
{
    double value = 0;
    for (const ChartRoof& roof : roofs) {
        value = std::max(value, roof.value());
    }
    return value;
}

QString roofText(const ChartRoof& roof, bool bandwidth, bool brief)
{
    if (brief) {
        return roofName(roof.id);
    }
    const QString figure = bandwidth ? bandwidthText(roof.value()) : rateText(roof.value());
    return roof.isMeasured() ? QStringLiteral("%1  %2").arg(roofName(roof.id), figure)
                             : QCoreApplication::translate("roofline", "%1  %2, theory").arg(roofName(roof.id), figure);
}

void addBandwidths(std::vector<DrawnRoof>& lines, const RooflineChart& chart, const RooflineScale& scale,
                   const Measure& measure, bool brief)
{
    const double ceiling = highest(chart.rates) > 0 ? std::log10(highest(chart.rates)) : scale.yHigh;
    double previousIntercept = 0, along = 0;
    bool first = true;
    std::vector<const ChartRoof*> roofs;
    for (const ChartRoof& roof : chart.bandwidths) {
        if (roof.value() > 0) {
            roofs.push_back(&roof);
        }
    }
    std::sort(roofs.begin(), roofs.end(), [](const auto* a, const auto* b) { return a->value() > b->value(); });
    for (const ChartRoof* roof : roofs) {
        const double lift = std::log10(roof->value()); // log y = lift + log x
        const double from = std::max(scale.xLow, scale.yLow - lift), to = std::min(scale.xHigh, ceiling - lift);
        if (to <= from) {
            continue;
        }
        DrawnRoof line;
        line.roof = roof;
        line.bandwidth = true;
        line.line = {scale.place(std::pow(10, from), std::pow(10, from + lift)),
                     scale.place(std::pow(10, to), std::pow(10, to + lift))};
        line.text = roofText(*roof, true, brief);
        line.labelSize = measure(line.text);
        line.angle = -line.line.angle();
        // Parallel lines: where two are closer than a text is high, the next label moves along.
        const QPointF direction = (line.line.p2() - line.line.p1()) / std::max(1.0, line.line.length());
        const QPointF normal(direction.y(), -direction.x()); // up and to the left of the line
        const double intercept = QPointF::dotProduct(line.line.p1(), normal);
        if (!first && std::abs(previousIntercept - intercept) >= line.labelSize.height() + 4) {
            along = 0;
        }
        first = false;
        previousIntercept = intercept;
        const double start = 10 + along;
        along += line.labelSize.width() + 14;
        // Measured from the left end of the first line, so that labels that moved along do stand beside each other.
        const double base = QPointF::dotProduct(scale.plot.bottomLeft(), direction);
        const double ownStart = QPointF::dotProduct(line.line.p1(), direction);
        const double leftmost = std::max(ownStart, base) + start + line.labelSize.width() / 2;
        line.labelCentre =
            line.line.p1() + direction * (leftmost - ownStart) + normal * (line.labelSize.height() / 2 + 2);
        if (leftmost - ownStart + line.labelSize.width() / 2 > line.line.length()) {
            line.text.clear();
            line.labelSize = {};
        }
        lines.push_back(line);
    }
}

void addRates(std::vector<DrawnRoof>& lines, const RooflineChart& chart, const RooflineScale& scale,
              const Measure& measure, bool brief)
{
    const double fastest = highest(chart.bandwidths);
    std::vector<DrawnRoof> flat;
    for (const ChartRoof& roof : chart.rates) {
        if (roof.value() <= 0) {
            continue;
        }
        const double ridge = fastest > 0 ? std::log10(roof.value() / fastest) : scale.xLow;
        const double from = std::clamp(ridge, scale.xLow, scale.xHigh);
        DrawnRoof line;
        line.roof = &roof;
        line.line = {scale.place(std::pow(10, from), roof.value()),
                     scale.place(std::pow(10, scale.xHigh), roof.value())};
        line.text = roofText(roof, false, brief);
        line.labelSize = measure(line.text);
        flat.push_back(line);
    }
    std::sort(flat.begin(), flat.end(),
              [](const DrawnRoof& a, const DrawnRoof& b) { return a.line.y1() < b.line.y1(); });
    std::vector<double> centres;
    double height = 0;
    for (const DrawnRoof& line : flat) {
        centres.push_back(line.line.y1());
        height = std::max(height, line.labelSize.height());
    }
    centres = spread(std::move(centres), height, scale.plot.top() + height / 2, scale.plot.bottom() - height / 2);
    constexpr double lead = 14;
    for (std::size_t i = 0; i < flat.size(); ++i) {
        DrawnRoof& line = flat[i];
        line.labelCentre = {scale.plot.right() + lead + 4 + line.labelSize.width() / 2, centres[i]};
        line.leader = QLineF(line.line.p2(), {scale.plot.right() + lead, centres[i]});
        lines.push_back(line);
    }
}

} // namespace

QPointF RooflineScale::place(double intensity, double gflops) const
{
    const double x = (std::log10(intensity) - xLow) / (xHigh - xLow), y = (std::log10(gflops) - yLow) / (yHigh - yLow);
    return {plot.left() + x * plot.width(), plot.bottom() - y * plot.height()};
}

RooflineScale scaleFor(const RooflineChart& chart, const QRectF& plot)
{
    double xLow = 1e9, xHigh = -1e9, yLow = 1e9, yHigh = -1e9;
    for (const RooflinePoint& point : chart.points) {
        for (const MemoryLevel level : memoryLevels) {
            if (point.drawable(level)) {
                xLow = std::min(xLow, std::log10(point.at(level).intensity) - air);
                xHigh = std::max(xHigh, std::log10(point.at(level).intensity) + air);
                yLow = std::min(yLow, std::log10(point.gflops) - air);
                yHigh = std::max(yHigh, std::log10(point.gflops) + air);
            }
        }
    }
    const double rate = highest(chart.rates);
    for (const ChartRoof& roof : chart.bandwidths) {
        if (roof.value() > 0 && rate > 0) {
            xLow = std::min(xLow, std::log10(rate / roof.value()) - 2);
            xHigh = std::max(xHigh, std::log10(rate / roof.value()) + 1);
        }
    }
    if (rate > 0) {
        yLow = std::min(yLow, std::log10(rate) - 2.5);
        yHigh = std::max(yHigh, std::log10(rate) + air);
    }
    RooflineScale scale;
    scale.plot = plot;
    if (xLow < xHigh && yLow < yHigh) {
        scale.xLow = std::floor(2 * xLow) / 2;
        scale.xHigh = std::ceil(2 * xHigh) / 2;
        scale.yLow = std::floor(2 * yLow) / 2;
        scale.yHigh = yHigh + 0.05;
    }
    return scale;
}

QPolygonF DrawnRoof::labelArea() const
{
    const QRectF flat(-labelSize.width() / 2, -labelSize.height() / 2, labelSize.width(), labelSize.height());
    return QTransform().translate(labelCentre.x(), labelCentre.y()).rotate(angle).map(QPolygonF(flat));
}

std::vector<DrawnRoof> roofLines(const RooflineChart& chart, const RooflineScale& scale, const Measure& measure,
                                 bool brief)
{
    std::vector<DrawnRoof> lines;
    addBandwidths(lines, chart, scale, measure, brief);
    addRates(lines, chart, scale, measure, brief);
    return lines;
}

std::vector<std::optional<QRectF>> placeLabels(const std::vector<QPointF>& points, const std::vector<QSizeF>& sizes,
                                               std::vector<QRectF> taken, const QRectF& within)
{
    constexpr double away = 10;
    for (const QPointF& point : points) {
        taken.push_back(QRectF(point.x() - 7, point.y() - 7, 14, 14));
    }
    std::vector<std::optional<QRectF>> places;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const QPointF at = points[i];
        const double w = sizes[i].width(), h = sizes[i].height();
        const QPointF corners[] = {{at.x() + away, at.y() - h / 2},        {at.x() - away - w, at.y() - h / 2},
                                   {at.x() - w / 2, at.y() - away - h},    {at.x() - w / 2, at.y() + away},
                                   {at.x() + away, at.y() - away - h},     {at.x() + away, at.y() + away},
                                   {at.x() - away - w, at.y() - away - h}, {at.x() - away - w, at.y() + away},
                                   {at.x() + away, at.y() + 2 * away + h}, {at.x() + away, at.y() - 2 * away - 2 * h}};
        std::optional<QRectF> chosen;
        for (const QPointF& corner : corners) {
            const QRectF area(corner, sizes[i]);
            const bool free =
                within.contains(area) &&
                std::none_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(area); });
            if (free) {
                chosen = area;
                taken.push_back(area);
                break;
            }
        }
        places.push_back(chosen);
    }
    return places;
}

std::vector<double> spread(std::vector<double> centres, double gap, double low, double high)
{
    // Neighbours that are too close become one block around their mean; blocks that then touch are merged.
    struct Block {
        double sum = 0; ///< of the wishes, each less its offset within the block
        std::size_t count = 0;
        double top(double gap, double low, double high) const
        {
            const double length = gap * double(count - 1);
            return std::max(low, std::min(sum / double(count), high - length));
        }
    };
    std::vector<Block> blocks;
    for (const double centre : centres) {
        blocks.push_back({centre, 1});
        while (blocks.size() > 1) {
            Block& above = blocks[blocks.size() - 2];
            const Block& last = blocks.back();
            if (above.top(gap, low, high) + gap * double(above.count) <= last.top(gap, low, high)) {
                break;
            }
            above.sum += last.sum - gap * double(above.count) * double(last.count);
            above.count += last.count;
            blocks.pop_back();
        }
    }
    std::size_t i = 0;
    for (const Block& block : blocks) {
        const double top = block.top(gap, low, high);
        for (std::size_t k = 0; k < block.count; ++k) {
            centres[i++] = top + gap * double(k);
        }
    }
    return centres;
}

} // namespace espalier
