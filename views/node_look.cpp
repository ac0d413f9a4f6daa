// SPDX-License-Identifier: GPL-3.0-only
#include "views/node_look.h"

#include "views/format.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPolygonF>
#include <QStringList>
#include <cmath>
#include <numbers>

namespace espalier {

namespace {

QString tr(const char* source)
{
    return QCoreApplication::translate("node", source);
}

void setOutcome(NodeLook& look, const NodeSummary& node)
{
    switch (node.outcome) {
    case Outcome::Passed:
        look.shape = Shape::Disc;
        look.token = Token::Passed;
        break;
    case Outcome::Incorrect:
        look.shape = Shape::Cross;
        look.token = Token::Incorrect;
        break;
    case Outcome::Suspicious:
        look.shape = Shape::Triangle;
        look.token = Token::Suspicious;
        break;
    case Outcome::BuildFailed:
    case Outcome::RuntimeFailed:
    case Outcome::TimedOut:
        look.shape = Shape::Square;
        look.token = Token::Failed;
        break;
    case Outcome::NotRun:
        look.shape = Shape::Circle;
        look.token = Token::Draft;
        break;
    }
    look.word = format::outcome(node.outcome);
}

void setFigure(NodeLook& look, const NodeSummary& node)
{
    if (node.outcome != Outcome::Passed || !node.speedupRoot) {
        return;
    }
    const Provenance provenance = node.provenance.value_or(Provenance::Model);
    look.modelled = provenance == Provenance::Model;
    look.figure =
        (node.tieWithParent ? QStringLiteral("= ") : QString()) + format::speedup(node.speedupRoot->value, provenance);
}

QPolygonF regular(const QPointF& centre, double radius, int corners, double inner = 0)
{
    QPolygonF polygon;
    const int steps = inner > 0 ? 2 * corners : corners;
    for (int i = 0; i < steps; ++i) {
        const double angle = -std::numbers::pi / 2 + 2 * std::numbers::pi * i / steps;
        const double r = inner > 0 && i % 2 ? inner : radius;
        polygon << centre + QPointF(r * std::cos(angle), r * std::sin(angle));
    }
    return polygon;
}

void paintCross(QPainter& painter, const QPointF& c, double r, const QColor& colour)
{
    painter.setPen(QPen(colour, std::max(1.5, r * 0.45), Qt::SolidLine, Qt::RoundCap));
    const double d = r * 0.72;
    painter.drawLine(c + QPointF(-d, -d), c + QPointF(d, d));
    painter.drawLine(c + QPointF(-d, d), c + QPointF(d, -d));
}

void paintBody(QPainter& painter, const NodeLook& look, const QPointF& c, double r)
{
    switch (look.shape) {
    case Shape::Disc:
    case Shape::Circle:
    case Shape::Ring:
        painter.drawEllipse(c, r, r);
        break;
    case Shape::Triangle:
        painter.drawPolygon(regular(c + QPointF(0, r * 0.15), r * 1.15, 3));
        break;
    case Shape::Square:
        painter.drawRect(QRectF(c.x() - r * 0.85, c.y() - r * 0.85, r * 1.7, r * 1.7));
        break;
    case Shape::Diamond:
        painter.drawPolygon(regular(c, r, 4));
        break;
    case Shape::Star:
        painter.drawPolygon(regular(c, r * 1.35, 5, r * 0.6));
        break;
    case Shape::Cross:
        break;
    }
}

} // namespace

NodeLook lookOf(const NodeSummary& node, bool best)
{
    NodeLook look;
    look.pinned = node.pinned;
    look.pruned = node.pruned || !node.banned.empty();
    look.overturned = node.overturned.has_value();
    look.title = format::text(node.title);
    if (node.kind == NodeKind::Idea) {
        look.shape = Shape::Diamond;
        look.token = node.state == NodeState::Running ? Token::Running : Token::Draft;
        look.dashed = node.state == NodeState::Draft || node.state == NodeState::Queued;
        look.word = node.state == NodeState::Draft ? tr("draft") : QString();
        return look;
    }
    switch (node.state) {
    case NodeState::Draft:
    case NodeState::Queued:
        look.shape = Shape::Circle;
        look.token = Token::Draft;
        look.dashed = true;
        look.word = format::state(node.state);
        return look;
    case NodeState::Running:
        look.shape = Shape::Ring;
        look.token = Token::Running;
        look.dashed = true;
        look.word = node.runningStage ? format::activity(*node.runningStage) : format::state(node.state);
        return look;
    case NodeState::Done:
        break;
    }
    setOutcome(look, node);
    setFigure(look, node);
    if (best && node.outcome == Outcome::Passed) {
        look.shape = Shape::Star;
        look.token = Token::Best;
    }
    return look;
}

void paintSign(QPainter& painter, const NodeLook& look, const QPointF& centre, double radius, const Theme& theme)
{
    const QColor colour = theme[look.token];
    const QColor ground = theme[Token::Background];
    const bool hollow = look.shape == Shape::Circle || look.shape == Shape::Ring || look.shape == Shape::Diamond;
    if (look.pinned) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme[Token::Text], std::max(1.0, radius * 0.22)));
        painter.drawEllipse(centre, radius * 1.65, radius * 1.65);
    }
    if (look.shape == Shape::Cross) {
        paintCross(painter, centre, radius, colour);
    } else {
        QPen pen(colour, std::max(1.0, radius * (look.shape == Shape::Ring ? 0.4 : 0.25)));
        if (look.dashed) {
            pen.setDashPattern({2.0, 1.6});
        }
        if (look.shape == Shape::Star) {
            pen = QPen(theme[Token::Text], std::max(0.8, radius * 0.14)); // gold on white needs its outline
        }
        painter.setPen(pen);
        painter.setBrush(hollow ? ground : colour);
        paintBody(painter, look, centre, radius);
    }
    if (look.overturned) {
        const QPointF foot = centre + QPointF(radius * 0.85, radius * 0.2), top = foot - QPointF(0, radius * 1.9);
        painter.setPen(QPen(theme[Token::Text], std::max(1.0, radius * 0.2)));
        painter.drawLine(foot, top);
        painter.setBrush(theme[Token::Text]);
        painter.drawPolygon(QPolygonF{top, top + QPointF(radius * 0.95, radius * 0.4), top + QPointF(0, radius * 0.8)});
    }
    if (look.pruned) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(QBrush(ground, Qt::BDiagPattern));
        const double r = radius * 1.2;
        painter.drawRect(QRectF(centre.x() - r, centre.y() - r, 2 * r, 2 * r));
    }
}

QString spokenText(const NodeSummary& node, bool best)
{
    const NodeLook look = lookOf(node, best);
    QStringList parts{QStringLiteral("%1 %2").arg(format::kind(node.kind)).arg(node.id.value), look.title, look.word,
                      look.figure};
    parts.removeAll(QString());
    if (best) {
        parts += tr("best");
    }
    if (node.pinned) {
        parts += tr("pinned");
    }
    if (node.overturned) {
        parts += tr("overturned by hand");
    }
    if (node.pruned) {
        parts += tr("pruned");
    }
    if (!node.banned.empty()) {
        parts += tr("banned");
    }
    return parts.join(QStringLiteral(", "));
}

} // namespace espalier
