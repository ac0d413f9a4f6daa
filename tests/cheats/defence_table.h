// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/cheats/bench.h"
#include "tests/cheats/corpus.h"
#include "tests/cheats/weakening.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace espalier::corpus {

/// A cheat and how it ended while every defence stood.
struct Caught {
    Candidate candidate;
    Evaluation evaluation;
    std::string check; ///< that ended it
};

/// What came of one row of the second table. A value.
struct TableLine {
    TableRow row;
    std::set<std::string> judged, slipped;
    std::map<std::string, int> stoppedBy; ///< the others, by the check that ended them now
    /// True when something slipped that no row with fewer defences taken away lets through: what is taken away here is
    /// needed, all of it.
    bool needed = false;
    double seconds = 0;
};

/// Files that a row could let through: those that its checks ended or whose head names it; where the build is left
/// alone, only those that the build had let pass.
bool concerns(const TableRow& row, const Caught& caught);

/// Judges what concerns each row that has meaning on the device. `open` gives a bench whose judge lacks the row's
/// defences; `done` gets every line as it is ready. Errors: the bench's.
Result<std::vector<TableLine>> runTable(const std::vector<Caught>& caught, bool simulated,
                                        const std::function<Result<Bench>(const Weakening&)>& open,
                                        const std::function<void(const TableLine&)>& done);

/// Defences of the rows judged that no needed row has: nothing in the corpus shows what they are for on this device.
std::vector<std::string> idleDefences(const std::vector<TableLine>& lines);

} // namespace espalier::corpus
