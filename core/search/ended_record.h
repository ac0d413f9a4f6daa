// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/evaluation.h"
#include "core/search/kernel_traits.h"

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// What a search needs of a candidate that has ended, small enough to stand in its row: outcome, figures, traits and
/// the identity of its text. A session of 100,000 nodes is reopened from these; the stages' own records stay the truth,
/// and a row without one (of an older version, or cut off before it was written) is read from them. A value.
struct EndedRecord {
    Evaluation evaluation; ///< outcome, cause, stage, reason, epoch, of the build what its kernels hold (heldBy()), and
                           ///< of the timing the objective and the ratios
    BuildTraits build;
    KernelTraits traits;      ///< of the source
    double deviceSeconds = 0; ///< that the judge spent on it, all measurements together
    std::string identity;     ///< sourceIdentity() of it; empty: no source, or it does not count as one

    static EndedRecord of(const Evaluation& evaluation, const std::string& source);
    /// Fields closed by bars, since JSON took two thirds of the time to reopen a large session: ended_text.cpp states
    /// them.
    std::string text() const;
    static std::optional<EndedRecord> parse(std::string_view text); ///< nullopt: not one, or one of another version
};

/// Seconds that the judge took for this evaluation; where it does not say, those of verifying and timing.
double deviceSecondsOf(const Evaluation& evaluation);

} // namespace espalier
