// SPDX-License-Identifier: GPL-3.0-only
#include "views/roofline_painter.h"

#include "views/format.h"
#include "views/node_look.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <set>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("roofline", source);
}

constexpr double signRadius = 6;
constexpr double leftMargin = 62, bottomMargin = 44, topMargin = 14;

QString tickText(int decade)
{
    switch (decade) {
    case 3:
        return QStringLiteral("1k");
    case 4:
        return QStringLiteral("10k");
    case 5:
        return QStringLiteral("100k");
    case 6:
        return QStringLiteral("1M");
    default:
        return QString::number(std::pow(10, decade), 'g', 3);
    }
}

QFont smaller(const QFont& font)
{
    QFont small = font;
    small.setPointSizeF(font.pointSizeF() * 0.88);
    return small;
}

std::set<NodeId> prominentNodes(const RooflineChart& chart, const RooflineFocus& focus)
{
    std::set<NodeId> nodes(focus.kept.begin(), focus.kept.end());
    for (const auto& node : {focus.selected, focus.baseline, focus.best}) {
        if (node) {
            nodes.insert(*node);
        }
    }
    if (focus.isolated) {
        for (const auto& start : {focus.selected, focus.best}) {
            for (const RooflinePoint* point : start ? chart.lineage(*start) : std::vector<const RooflinePoint*>()) {
                nodes.insert(point->node);
            }
        }
    }
    return nodes;
}

/// Ends short of both signs, so that the head can be seen.
void addArrow(RooflineLayout& layout, const QPointF& from, const QPointF& to)
{
    const QLineF line(from, to);
    constexpr double gap = signRadius + 3;
    if (line.length() > 2 * gap + 4) {
        const QPointF step = (to - from) / line.length() * gap;
        layout.arrows.emplace_back(from + step, to - step);
    }
}

void addArrows(RooflineLayout& layout, const RooflineChart& chart, const RooflineFocus& focus, MemoryLevel level)
{
    std::set<std::pair<NodeId, NodeId>> drawn;
    const auto arrow = [&](std::optional<NodeId> from, std::optional<NodeId> to) {
        const RooflinePoint *a = chart.find(from), *b = chart.find(to);
        if (a && b && a != b && a->drawable(level) && b->drawable(level) && drawn.emplace(a->node, b->node).second) {
            addArrow(layout, layout.scale.place(a->at(level).intensity, a->gflops),
                     layout.scale.place(b->at(level).intensity, b->gflops));
        }
    };
    if (focus.isolated) {
        for (const auto& start : {focus.selected, focus.best}) {
            const auto line = start ? chart.lineage(*start) : std::vector<const RooflinePoint*>();
            for (std::size_t i = 1; i < line.size(); ++i) {
                arrow(line[i]->node, line[i - 1]->node);
            }
        }
        return;
    }
    arrow(focus.baseline, focus.selected);
    arrow(focus.selected, focus.best);
}

void addLabels(RooflineLayout& layout, const RooflineFocus& focus, const QFontMetricsF& metrics)
{
    std::vector<QPointF> places;
    std::vector<QSizeF> sizes;
    QStringList texts;
    std::vector<const PlacedPoint*> named;
    for (const PlacedPoint& placed : layout.points) {
        if (placed.prominent) {
            named.push_back(&placed);
        }
    }
    // Who is looked at is named first; in "all levels" only once, at the first level.
    const auto rank = [&](const PlacedPoint* placed) {
        const NodeId node = placed->point->node;
        return node == focus.selected ? 0 : node == focus.best ? 1 : node == focus.baseline ? 2 : 3;
    };
    std::stable_sort(named.begin(), named.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
    std::set<NodeId> done;
    for (const PlacedPoint* placed : named) {
        if (!done.insert(placed->point->node).second) {
            continue;
        }
        const QString text = metrics.elidedText(
            QStringLiteral("%1  %2").arg(placed->point->node.value).arg(placed->point->title), Qt::ElideRight, 190);
        places.push_back(placed->at);
        sizes.emplace_back(metrics.horizontalAdvance(text) + 6, metrics.height());
        texts += text;
    }
    std::vector<QRectF> taken;
    for (const DrawnRoof& roof : layout.roofs) {
        // A turned label's bounding box is mostly air: its quarters stand for it.
        const QPolygonF area = roof.labelArea();
        for (int i = 0; i < 8; ++i) {
            const double from = i / 8.0, to = (i + 1) / 8.0;
            const QPointF top = area[1] - area[0], side = area[3] - area[0];
            taken.push_back(QPolygonF({area[0] + top * from, area[0] + top * to, area[0] + top * to + side,
                                       area[0] + top * from + side})
                                .boundingRect());
        }
    }
    const auto found = placeLabels(places, sizes, std::move(taken), layout.scale.plot);
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i]) {
            continue;
        }
        layout.labels.emplace_back(*found[i], texts[qsizetype(i)]);
        // A label that had to go away is tied to its point.
        const QPointF nearest(std::clamp(places[i].x(), found[i]->left(), found[i]->right()),
                              std::clamp(places[i].y(), found[i]->top(), found[i]->bottom()));
        constexpr double beside = 16;
        if (QLineF(places[i], nearest).length() > beside) {
            layout.leaders.emplace_back(places[i], nearest);
        }
    }
}

void paintAxes(QPainter& painter, const RooflineScale& scale, const Theme& theme, const QFont& font)
{
    const QRectF& plot = scale.plot;
    const QFont small = smaller(font);
    const QFontMetricsF metrics(small);
    painter.setFont(small);
    for (int decade = int(std::ceil(scale.xLow)); decade <= std::floor(scale.xHigh); ++decade) {
        const double x = scale.place(std::pow(10, decade), 1).x();
        painter.setPen(QPen(theme[Token::Hairline], 1));
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
        painter.setPen(theme[Token::Muted]);
        painter.drawText(QRectF(x - 30, plot.bottom() + 4, 60, metrics.height()), Qt::AlignCenter, tickText(decade));
    }
    for (int decade = int(std::ceil(scale.yLow)); decade <= std::floor(scale.yHigh); ++decade) {
        const double y = scale.place(1, std::pow(10, decade)).y();
        painter.setPen(QPen(theme[Token::Hairline], 1));
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        painter.setPen(theme[Token::Muted]);
        painter.drawText(QRectF(plot.left() - 46, y - metrics.height() / 2, 40, metrics.height()),
                         Qt::AlignRight | Qt::AlignVCenter, tickText(decade));
    }
    painter.setPen(QPen(theme[Token::Hairline].darker(115), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(plot);
    painter.setPen(theme[Token::Muted]);
    painter.drawText(QRectF(plot.left(), plot.bottom() + metrics.height() + 6, plot.width(), metrics.height() + 2),
                     Qt::AlignCenter, tr("FLOP per byte"));
    painter.save();
    painter.translate(plot.left() - 50, plot.center().y());
    painter.rotate(-90);
    painter.drawText(QRectF(-plot.height() / 2, -metrics.height() / 2 - 2, plot.height(), metrics.height()),
                     Qt::AlignCenter, tr("GFLOP/s"));
    painter.restore();
}

void paintRoofs(QPainter& painter, const RooflineLayout& layout, const RooflineFocus& focus, const Theme& theme,
                const QFont& font)
{
    const QFont small = smaller(font);
    for (const DrawnRoof& roof : layout.roofs) {
        const bool strong =
            !roof.bandwidth || !focus.level || nameOf(*focus.level).toLower() == format::text(roof.roof->id);
        const QColor colour = theme[strong ? Token::Text : Token::Draft];
        painter.setPen(
            QPen(colour, roof.bandwidth && strong ? 1.8 : 1.2, roof.roof->isMeasured() ? Qt::SolidLine : Qt::DashLine));
        painter.drawLine(roof.line);
        if (roof.leader) {
            painter.setPen(QPen(theme[Token::Hairline].darker(115), 1));
            painter.drawLine(*roof.leader);
        }
        painter.save();
        painter.setFont(small);
        painter.setPen(theme[strong ? Token::Text : Token::Draft]);
        painter.translate(roof.labelCentre);
        painter.rotate(roof.angle);
        painter.drawText(QRectF(-roof.labelSize.width() / 2 - 2, -roof.labelSize.height() / 2,
                                roof.labelSize.width() + 4, roof.labelSize.height()),
                         Qt::AlignCenter, roof.text);
        painter.restore();
    }
}

void paintArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& colour)
{
    painter.setPen(QPen(colour, 1.6));
    painter.drawLine(from, to);
    const double angle = std::atan2(to.y() - from.y(), to.x() - from.x());
    QPainterPath head(to);
    for (const double side : {2.65, -2.65}) {
        head.lineTo(to + 9 * QPointF(std::cos(angle + side), std::sin(angle + side)));
    }
    head.closeSubpath();
    painter.fillPath(head, colour);
}

NodeLook lookOf(const RooflinePoint& point, const RooflineFocus& focus)
{
    NodeLook look;
    look.token = point.node == focus.selected ? Token::Accent : point.node == focus.best ? Token::Best : Token::Passed;
    look.shape = point.node == focus.best ? Shape::Star : Shape::Disc;
    if (!point.checks.isEmpty()) { // above a roof: a warning sign, never a star
        look.token = Token::Suspicious;
        look.shape = Shape::Triangle;
    }
    look.pinned = point.node == focus.selected;
    return look;
}

void paintPoints(QPainter& painter, const RooflineLayout& layout, const RooflineFocus& focus, const Theme& theme)
{
    QColor faint = theme[Token::Draft];
    faint.setAlphaF(0.45f);
    QList<QPointF> cloud;
    for (const PlacedPoint& placed : layout.points) {
        if (!placed.prominent && placed.point->checks.isEmpty()) {
            cloud += placed.at;
        }
    }
    painter.setPen(QPen(faint, 5, Qt::SolidLine, Qt::RoundCap));
    painter.drawPoints(cloud.constData(), int(cloud.size()));
    for (const PlacedPoint& placed : layout.points) {
        if (!placed.prominent && !placed.point->checks.isEmpty()) {
            NodeLook look;
            look.shape = Shape::Triangle;
            look.token = Token::Suspicious;
            paintSign(painter, look, placed.at, 4, theme);
        }
    }
    for (const auto& [from, to] : layout.arrows) {
        paintArrow(painter, from, to, theme[Token::Accent]);
    }
    // With all levels shown, a line joins the places of one candidate.
    const PlacedPoint* before = nullptr;
    for (const PlacedPoint& placed : layout.points) {
        if (placed.prominent && before && before->point == placed.point) {
            painter.setPen(QPen(theme[Token::Draft], 1, Qt::DotLine));
            painter.drawLine(before->at, placed.at);
        }
        before = &placed;
    }
    for (const PlacedPoint& placed : layout.points) {
        if (placed.prominent) {
            paintSign(painter, lookOf(*placed.point, focus), placed.at, signRadius, theme);
        }
    }
}

} // namespace

const PlacedPoint* RooflineLayout::nearest(const QPointF& place, double within) const
{
    const PlacedPoint* best = nullptr;
    double closest = within;
    for (const PlacedPoint& placed : points) {
        const double distance = QLineF(placed.at, place).length() - (placed.prominent ? 2 : 0);
        if (distance <= closest) {
            closest = distance;
            best = &placed;
        }
    }
    return best;
}

RooflineLayout layOut(const RooflineChart& chart, const RooflineFocus& focus, const QSizeF& size, const QFont& font)
{
    const QFontMetricsF metrics(smaller(font));
    const Measure measure = [&](const QString& text) {
        return QSizeF(metrics.horizontalAdvance(text), metrics.height());
    };
    RooflineLayout layout;
    // The right margin is as wide as the longest label of a rate needs.
    double right = 16;
    const bool brief = size.width() < 560;
    for (const DrawnRoof& roof : roofLines(chart, scaleFor(chart, QRectF(0, 0, 100, 100)), measure, brief)) {
        right = roof.bandwidth ? right : std::max(right, roof.labelSize.width() + 26);
    }
    const QRectF plot(leftMargin, topMargin, std::max(40.0, size.width() - leftMargin - right),
                      std::max(40.0, size.height() - topMargin - bottomMargin));
    layout.scale = scaleFor(chart, plot);
    layout.roofs = roofLines(chart, layout.scale, measure, brief);

    const std::set<NodeId> prominent = prominentNodes(chart, focus);
    for (const bool wanted : {false, true}) {
        for (const RooflinePoint& point : chart.points) {
            if (prominent.contains(point.node) != wanted || (focus.isolated && !wanted)) {
                continue;
            }
            for (const MemoryLevel level : memoryLevels) {
                if ((!focus.level || focus.level == level) && point.drawable(level)) {
                    layout.points.push_back(
                        {&point, level, layout.scale.place(point.at(level).intensity, point.gflops), wanted});
                }
            }
        }
    }
    addArrows(layout, chart, focus, focus.level.value_or(MemoryLevel::Dram));
    addLabels(layout, focus, metrics);
    return layout;
}

void paintRoofline(QPainter& painter, const RooflineLayout& layout, const RooflineFocus& focus, const Theme& theme,
                   const QFont& font)
{
    painter.setRenderHint(QPainter::Antialiasing);
    paintAxes(painter, layout.scale, theme, font);
    paintRoofs(painter, layout, focus, theme, font);
    painter.save();
    painter.setClipRect(layout.scale.plot.adjusted(-8, -8, 8, 8));
    paintPoints(painter, layout, focus, theme);
    painter.restore();
    painter.setPen(QPen(theme[Token::Draft], 1));
    for (const QLineF& leader : layout.leaders) {
        painter.drawLine(leader);
    }
    for (const auto& [area, text] : layout.labels) {
        QColor ground = theme[Token::Background];
        ground.setAlphaF(0.8f);
        painter.fillRect(area, ground);
        QFont named = smaller(font);
        painter.setFont(named);
        painter.setPen(theme[Token::Text]);
        painter.drawText(area, Qt::AlignCenter, text);
    }
}

QStringList cardLines(const RooflinePoint& point)
{
    const bool model = point.provenance == Provenance::Model;
    const QString about = model ? QStringLiteral("≈ ") : QString();
    QStringList lines{QStringLiteral("%1  %2").arg(point.node.value).arg(point.title)};
    lines += tr("%1, %2%3").arg(format::time(point.timeUs, point.provenance), about, rateText(point.gflops));
    for (const MemoryLevel level : memoryLevels) {
        const LevelFigure& figure = point.at(level);
        if (figure.gbs <= 0) {
            continue;
        }
        QString line = tr("%1: %2%3 FLOP/B, %2%4")
                           .arg(nameOf(level), about, format::number(figure.intensity), bandwidthText(figure.gbs));
        if (figure.percent > 0) {
            line += tr(", %1%2 % of its roof").arg(about, format::number(figure.percent));
        }
        lines += line;
    }
    if (!point.sentence.isEmpty()) {
        lines += point.sentence.left(1).toUpper() + point.sentence.mid(1);
    }
    for (const QString& check : point.checks) {
        lines += tr("To be checked: %1").arg(check);
    }
    if (model) {
        lines += tr("Modelled, not measured.");
    }
    return lines;
}

void paintCard(QPainter& painter, const RooflinePoint& point, const QPointF& at, const QRectF& within,
               const Theme& theme, const QFont& font)
{
    constexpr double pad = 8, widest = 360;
    const bool model = point.provenance == Provenance::Model;
    QFont plain = smaller(font), head = plain;
    head.setBold(true);
    plain.setItalic(model);
    struct Line {
        QString text;
        QFont font;
        QRectF area;
        Token token;
    };
    std::vector<Line> lines;
    double y = pad, width = 0;
    for (const QString& text : cardLines(point)) {
        const bool check = point.checks.size() > 0 && text.startsWith(tr("To be checked: %1").section(u'%', 0, 0));
        Line line{text, lines.empty() ? head : plain, {}, check ? Token::Suspicious : Token::Text};
        const QRectF area = QFontMetricsF(line.font).boundingRect(QRectF(0, 0, widest, 400), Qt::TextWordWrap, text);
        line.area = QRectF(pad, y, std::ceil(area.width()) + 2, area.height());
        y += area.height() + 2;
        width = std::max(width, line.area.width());
        lines.push_back(line);
    }
    QRectF card(at.x() + 14, at.y() + 14, width + 2 * pad, y + pad - 2);
    if (card.right() > within.right() - 4) {
        card.moveRight(std::max(within.left() + card.width() + 4, at.x() - 14));
    }
    if (card.bottom() > within.bottom() - 4) {
        card.moveBottom(std::max(within.top() + card.height() + 4, at.y() - 14));
    }
    painter.setPen(QPen(theme[Token::Hairline].darker(120), 1));
    painter.setBrush(theme[Token::Panel]);
    painter.drawRoundedRect(card, 4, 4);
    for (const Line& line : lines) {
        painter.setFont(line.font);
        painter.setPen(theme[line.token]);
        painter.drawText(line.area.translated(card.topLeft()), Qt::TextWordWrap, line.text);
    }
}

} // namespace espalier
