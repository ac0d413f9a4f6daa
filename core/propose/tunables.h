// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/propose/tune_condition.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// One constant that may be tuned: `// espalier: tune NAME = a b c` above `#define NAME v` or `constexpr int NAME =
/// v;`.
struct Tunable {
    std::string name;
    std::vector<std::int64_t> values; ///< as listed, without repeats; at least two together with `current`
    std::int64_t current = 0;
    int line = 0;                   ///< of the value, from 1
    std::size_t begin = 0, end = 0; ///< bytes of the value in the source
    bool operator==(const Tunable&) const = default;
};

/// A line that looks like a tunable or a lock and is none, with what is wrong.
struct MarkProblem {
    int line = 0;
    std::string sentence;
};

/// Lines from `// espalier: lock` to `// espalier: unlock`, both included, from 1.
struct LockedLines {
    int first = 0, last = 0;
    std::string text; ///< with its line ends
};

/// Everything the marks of a source say. Marks are read from whole-line comments only.
struct SourceMarks {
    std::vector<Tunable> tunables;         ///< in the order of their lines; none inside locked lines
    std::vector<TuneCondition> conditions; ///< `// espalier: tune-if EXPR`: combinations that may be tried
    std::vector<LockedLines> locked;
    std::vector<MarkProblem> problems;
};

/// Values by name.
using TunableValues = std::map<std::string, std::int64_t, std::less<>>;

/// Reads the marks of any text. Never fails: what it does not understand becomes a problem, not a tunable. Thread: any.
SourceMarks readMarks(std::string_view source);

/// The source with other values of its tunables; nothing else changes.
/// Errors: InvalidInput for a name that the source does not declare or a value that its list does not hold.
Result<std::string> withTunables(std::string_view source, const TunableValues& values);

/// InvalidInput naming the line when `changed` lacks locked lines of `original`, or has them in another order.
Result<void> checkLocks(std::string_view original, std::string_view changed);

} // namespace espalier
