// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"

#include <QString>
#include <optional>

namespace espalier {

/// What the candidates under an idea came to.
struct IdeaResult {
    int implementations = 0, passed = 0, running = 0;
    std::optional<Interval> bestSpeedupRoot;
    Provenance provenance = Provenance::Model;
};

/// The inspector's first line: the one sentence a person would say about a node. A modelled figure is called modelled,
/// a tie is called a tie, and a verdict never goes beyond its interval. Pure; thread: any.
QString sentenceFor(const NodeSummary& node, const IdeaResult& result = {});

/// "1.82× faster than its parent (95 % interval 1.80 to 1.84)"; "as fast as …" when the interval holds 1.
QString comparison(const Interval& speedup, const QString& rival, bool tie);

} // namespace espalier
