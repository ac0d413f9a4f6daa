// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/node.h"
#include "core/model/session.h"

#include <QString>
#include <string_view>

/// Numbers and words as the window shows them: the one place that turns values into text. Pure functions; thread: any.
namespace espalier::format {

QString text(std::string_view utf8);

/// "1.82×"; modelled: "≈ 1.82×". Three significant digits.
QString speedup(double value, Provenance provenance);
QString speedup(const Interval& interval, Provenance provenance);
/// "[1.80, 1.84]"; empty where both ends read the same, as a model's do.
QString bounds(const Interval& interval);
QString withBounds(const QString& figure, const Interval& interval); ///< "1.82× [1.80, 1.84]"
/// " (95 % interval 1.80 to 1.84)", with the blank before it; empty where both ends read the same.
QString intervalWords(const Interval& interval);
/// "1.82×" over a rival; "= 0.998×" where the two cannot be told apart: a tie is never told as a win or a loss.
QString ratio(const Interval& speedup, Provenance provenance);
/// "±0.4 %": half the interval; "–" where it has no width, as a model's.
QString halfWidth(const Interval& interval);
/// "812 µs", "3.40 ms"; modelled: "≈ 812 µs".
QString time(double microseconds, Provenance provenance);
QString seconds(double seconds);    ///< "0.41 s", "12 s", "3 min 20 s"
QString clock(double seconds);      ///< "02:11", "1:02:11"
QString count(std::uint64_t value); ///< "1,234,567"
QString number(double value, int digits = 3);

QString outcome(Outcome outcome); ///< "passed", "incorrect", "did not build", …
QString stage(Stage stage);       ///< "Build"
QString activity(Stage stage);    ///< "building"
QString kind(NodeKind kind);
QString state(NodeState state);
QString runState(RunState state);
QString provenance(Provenance provenance); ///< "measured", "modelled"
/// "34/80 evals · 02:11 left".
QString budget(const RunStatus& status);
/// "engine running · 3 building · 1 timing · provenance model".
QString statusLine(const RunStatus& status, Provenance provenance);

} // namespace espalier::format
