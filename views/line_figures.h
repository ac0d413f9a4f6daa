// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "core/model/listing.h"
#include "core/model/node.h"

#include <QString>
#include <map>
#include <optional>
#include <vector>

namespace espalier {

/// One column beside a text's lines.
struct LineColumn {
    QString title, tip;
};

struct LineCell {
    QString text;
    double heat = 0; ///< 0 to 1: how warm it is coloured
};

struct LineRow {
    std::vector<std::optional<LineCell>> cells; ///< by column
    double weight = 0;                          ///< what "next hottest" goes by
    QString tip;                                ///< why the warps stood here
};

/// Figures beside the lines of a text. Lines are counted from 0. A value; thread: any.
struct LineFigures {
    std::vector<LineColumn> columns;
    std::map<int, LineRow> rows;
    bool modelled = false;

    std::vector<int> hottest() const; ///< lines by weight, heaviest first; those without any are left out
};

/// The innermost place of a chain that is the candidate's own text; nullopt: none is.
std::optional<int> ownLine(const std::vector<ListingPlace>& chain);

/// "sm_30_intrinsics.hpp:449 ← candidate.cu:5 ← candidate.cu:17", innermost first.
QString chainText(const std::vector<ListingPlace>& chain);

/// Samples by line of the candidate's text; with its listings also how many instructions the compiler made of a line,
/// those inlined into it left out: they count where they come from.
LineFigures sourceFigures(const NodeDetail& detail, int lines, const CodeListings* listings = nullptr);
/// Samples by instruction, for the lines of its machine code.
LineFigures sassFigures(const NodeDetail& detail, const std::vector<ListingLine>& listing);

} // namespace espalier
