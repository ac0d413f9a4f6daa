// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/search/search_tree.h"
#include "core/store/store.h"

#include <optional>
#include <vector>

namespace espalier {

/// What the stored stages of one node say together.
struct MergedRecords {
    Evaluation evaluation;                ///< the outcome so far, with every record
    bool final = false;                   ///< the pass has ended: nothing is to be done again
    bool built = false;                   ///< the build stage ended well
    std::optional<VerifyRecord> verified; ///< the verify stage ended well, in `epoch`, and timing was cut off
};

/// `stages` of one node in the store's order. With an `epoch`, verify and time records of another epoch do not count;
/// without one the latest of any epoch do.
MergedRecords mergeRecords(const std::vector<StoredStage>& stages, const std::optional<std::string>& epoch);

/// Whether a candidate that ended so is an evaluation, for budgets of the session and of branches alike: not what was
/// never built (no source, cancelled).
bool countsAsEvaluation(NotRunCause cause);

Verdict verdictOf(const Evaluation& evaluation, Provenance fallback);

} // namespace espalier
