// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/diff/word_diff.h"

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Equal: the same line on both sides (but for white space when that is ignored). Changed: two versions of one line,
/// or two unlike lines that stand opposite each other. Removed: only left. Added: only right.
enum class RowKind { Equal, Changed, Removed, Added };

/// One row of a side-by-side view. Line numbers count from 0; -1: no line, a filler.
struct DiffRow {
    RowKind kind = RowKind::Equal;
    int left = -1, right = -1;
    int words = -1; ///< Changed and alike: index into TextDiff::words; -1: the whole line differs
    bool operator==(const DiffRow&) const = default;
};

/// Rows [begin, end) that are not Equal; an Equal row or an end of the text on both sides.
struct DiffHunk {
    int begin = 0, end = 0;
    bool operator==(const DiffHunk&) const = default;
};

struct TextDiff {
    std::vector<DiffRow> rows;
    std::vector<DiffHunk> hunks;
    std::vector<WordDiff> words;
    int leftLines = 0, rightLines = 0;
    int added = 0, removed = 0;                       ///< lines; a changed line counts as one of each
    bool leftEndsOpen = false, rightEndsOpen = false; ///< the last line has no line end
    bool same() const { return hunks.empty(); }
};

struct DiffOptions {
    bool ignoreWhitespace = false; ///< in amount and at line ends, as `diff -b`, and a missing last line end
    int costCap = 512;             ///< edits before a stretch is split at unique lines
};

/// Lines of `text` as the diff counts them: split at '\n', a carriage return stays part of its line, no empty line
/// after the last line end.
std::vector<std::string_view> diffLines(std::string_view text);

/// Compares two texts line by line, then the changed lines word by word. Every line of both texts stands in exactly one
/// row, in order. Thread: any; a pure function, bounded time (see matchSequences). Errors: none.
TextDiff diffTexts(std::string_view left, std::string_view right, const DiffOptions& options = {});

/// The diff as `diff -u` prints it, with `context` equal lines around each hunk; empty for equal texts.
std::string unifiedText(const TextDiff& diff, std::string_view left, std::string_view right, std::string_view leftName,
                        std::string_view rightName, int context = 3);

} // namespace espalier
