// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"
#include "views/theme.h"

#include <QPointF>
#include <QString>

class QPainter;

namespace espalier {

/// The sign of a node: its shape says the outcome as much as its colour does.
enum class Shape { Disc, Cross, Triangle, Square, Ring, Circle, Diamond, Star };

/// How one node is drawn, wherever it is drawn: tree, outline, leaderboard.
struct NodeLook {
    Shape shape = Shape::Disc;
    Token token = Token::Draft;
    bool dashed = false;     ///< draft or running
    bool pinned = false;     ///< a ring around it
    bool pruned = false;     ///< hatched
    bool overturned = false; ///< a pennant: a person's word instead of the judge's
    QString title;           ///< ideas and roots: the words; candidates: empty when the idea already says them
    QString figure;          ///< "≈ 1.82×", "= 1.00×" for a tie; empty: none
    bool modelled = false;   ///< the figure is set in italics
    QString word;            ///< "incorrect", "building": what to say where there is no figure
};

NodeLook lookOf(const NodeSummary& node, bool best);

/// Draws the sign with its centre at `centre`; `radius` in device pixels.
void paintSign(QPainter& painter, const NodeLook& look, const QPointF& centre, double radius, const Theme& theme);

/// Accessible text: "candidate 7, keep the row in registers, passed, ≈ 1.82×, pinned".
QString spokenText(const NodeSummary& node, bool best);

} // namespace espalier
