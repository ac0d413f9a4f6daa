// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace espalier {

/// Bytes [begin, end) of one line.
struct ByteSpan {
    int begin = 0, end = 0;
    bool operator==(const ByteSpan&) const = default;
};

struct WordDiff {
    std::vector<ByteSpan> left, right; ///< what differs, ascending, apart from each other
    double similarity = 0;             ///< 0 … 1: share of the bytes (white space aside) that both lines have
};

/// Compares two lines word by word (identifiers, numbers, runs of white space, single signs). Spans never cut a UTF-8
/// character. Thread: any; a pure function.
WordDiff diffWords(std::string_view left, std::string_view right);

} // namespace espalier
