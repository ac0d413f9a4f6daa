// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/engine/session_reader.h"

#include <string>
#include <vector>

namespace espalier::ctl {

/// What the engineer told a session for good, numbered and named as lift-ban, unhint and detach take it.
Result<std::vector<std::string>> standingLines(const SessionReader& reader);
Result<Json> standingJson(const SessionReader& reader); ///< {"bans": […], "hints": […], "attached": […]}

/// A limit and what is spent of it. `spent` is nothing for rules by which a run has enough.
struct LimitLine {
    std::string name; ///< "evaluations"
    std::string text; ///< "3 evaluations (18 spent)"
    Json limit, spent;
    bool over = false;
};
std::vector<LimitLine> limitsOf(const NodeSummary& branch);
std::vector<LimitLine> limitsOf(const SessionReader& session);
std::string limitsText(const std::vector<LimitLine>& limits); ///< "3 evaluations (18 spent), target 2x"
Json limitsJson(const std::vector<LimitLine>& limits); ///< {"evaluations": {"limit": 3, "spent": 18}}; null: none

} // namespace espalier::ctl
