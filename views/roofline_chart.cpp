// SPDX-License-Identifier: GPL-3.0-only
#include "views/roofline_chart.h"

#include "core/analysis/roofline.h"

#include "views/format.h"

#include <algorithm>

namespace espalier {

namespace {

QString scaledRate(double giga, const QString& unit)
{
    struct Step {
        double from;
        const char* prefix;
    };
    for (const Step& step : {Step{1e6, "P"}, Step{1e3, "T"}, Step{1, "G"}, Step{1e-3, "M"}}) {
        if (giga >= step.from) {
            return QStringLiteral("%1%2%3%4")
                .arg(format::number(giga / step.from), QChar(0xa0), QLatin1String(step.prefix), unit);
        }
    }
    return QStringLiteral("%1%2G%3").arg(format::number(giga), QChar(0xa0), unit);
}

} // namespace

const RooflinePoint* RooflineChart::find(std::optional<NodeId> node) const
{
    const auto found = std::find_if(points.begin(), points.end(),
                                    [&](const RooflinePoint& point) { return node && point.node == *node; });
    return found == points.end() ? nullptr : &*found;
}

const ChartRoof* RooflineChart::roofOf(MemoryLevel level) const
{
    constexpr std::array ids = {"dram", "l2", "l1"};
    const char* wanted = ids[static_cast<std::size_t>(level)];
    const auto found = std::find_if(bandwidths.begin(), bandwidths.end(),
                                    [&](const ChartRoof& roof) { return roof.id == wanted && roof.value() > 0; });
    return found == bandwidths.end() ? nullptr : &*found;
}

std::vector<const RooflinePoint*> RooflineChart::lineage(NodeId node) const
{
    std::vector<const RooflinePoint*> line;
    for (const RooflinePoint* point = find(node); point && line.size() <= points.size(); point = find(point->parent)) {
        line.push_back(point);
    }
    return line;
}

QString nameOf(MemoryLevel level)
{
    constexpr std::array names = {"DRAM", "L2", "L1"};
    return QLatin1String(names[static_cast<std::size_t>(level)]);
}

QString roofName(const std::string& id)
{
    return format::text(roofTitle(id));
}

QString bandwidthText(double gbs)
{
    return scaledRate(gbs, QStringLiteral("B/s"));
}

QString rateText(double gflops)
{
    return scaledRate(gflops, QStringLiteral("FLOP/s"));
}

QString csvField(const QString& text)
{
    if (!text.contains(QLatin1Char('"')) && !text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('\n'))) {
        return text;
    }
    QString quoted = text;
    quoted.replace(QLatin1Char('"'), QStringLiteral("\"\""));
    return QStringLiteral("\"%1\"").arg(quoted);
}

QString csvOf(const RooflineChart& chart)
{
    const auto exact = [](double value) { return value > 0 ? QString::number(value, 'g', 9) : QString(); };
    QString out = QStringLiteral("roof,unit,measured,theory\n");
    const auto roofs = [&](const std::vector<ChartRoof>& all, const char* unit) {
        for (const ChartRoof& roof : all) {
            out += QStringLiteral("%1,%2,%3,%4\n")
                       .arg(format::text(roof.id), QLatin1String(unit), exact(roof.measured), exact(roof.theory));
        }
    };
    roofs(chart.bandwidths, "GB/s");
    roofs(chart.rates, "GFLOP/s");
    out += QStringLiteral("\nnode,title,parent,provenance,time_us,gflops");
    for (const MemoryLevel level : memoryLevels) {
        out += QStringLiteral(",%1_flop_per_byte,%1_gbs,%1_percent").arg(nameOf(level).toLower());
    }
    out += QStringLiteral(",verdict,checks\n");
    for (const RooflinePoint& point : chart.points) {
        out += QStringLiteral("%1,%2,%3,%4,%5,%6")
                   .arg(QString::number(point.node.value), csvField(point.title),
                        point.parent ? QString::number(point.parent->value) : QString(),
                        format::text(nameOf(point.provenance)), exact(point.timeUs), exact(point.gflops));
        for (const LevelFigure& figure : point.levels) {
            out += QStringLiteral(",%1,%2,%3").arg(exact(figure.intensity), exact(figure.gbs), exact(figure.percent));
        }
        out +=
            QStringLiteral(",%1,%2\n").arg(csvField(point.sentence), csvField(point.checks.join(QStringLiteral("; "))));
    }
    return out;
}

} // namespace espalier
