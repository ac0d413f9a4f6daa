// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::judge {

/// What one tool of compute-sanitizer printed, understood. A value.
struct SanitizerReport {
    bool complete = false; ///< its own summary line is there, once, and agrees with what stands above it
    int errors = 0;        ///< as the summary says; at least the number of findings
    /// All it complains of is that a launch or an allocation was refused for want of resources. The gate has seen the
    /// same calls succeed, so it is the tool's own code in the kernel that does not fit: no finding.
    bool noRoom = false;
    std::vector<std::string> findings;  ///< one sentence each with kernel and line, repeats left out, at most 8
    std::vector<std::string> functions; ///< that accesses of the findings stand in, as the tool names them, each once
    bool clean() const { return complete && errors == 0 && findings.empty(); }
};

/// `tool`: memcheck, racecheck, initcheck, synccheck. Only lines that begin with "=========" count. A report without
/// its summary, with two, or with a summary that counts less than what was found is not complete: never clean. Any
/// bytes are accepted; pure.
SanitizerReport parseSanitizerReport(std::string_view tool, std::string_view text);

} // namespace espalier::judge
