// SPDX-License-Identifier: GPL-3.0-only
#pragma once

namespace espalier::marks {

/// Every marker, indicator, margin and style number of our code views, in one place: Scintilla has one space for each,
/// and two users of one number overwrite each other. Indicators below 8 belong to lexers.
enum Marker { AddedLine = 0, RemovedLine = 1, ErrorLine = 2, ErrorSign = 3, LinkedLine = 4 };
enum Indicator { AddedWord = 8, RemovedWord = 9, FoundText = 10 };
enum Margin { SymbolMargin = 0, NumberMargin = 1 };
/// Between the lexer's styles (0 to 27, 64 up) and Scintilla's own (32 to 39). QsciStyle can number styles by itself,
/// but never gives a number back, and there are 64.
enum Style { FillerStyle = 50, MessageStyle = 51 };

} // namespace espalier::marks
