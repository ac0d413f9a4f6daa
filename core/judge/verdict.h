// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/evaluation.h"

#include <expected>
#include <string>
#include <vector>

namespace espalier::judge {

/// Why a candidate's evaluation ends here: data, not an Error. A value.
struct Verdict {
    Outcome outcome = Outcome::NotRun;
    NotRunCause cause = NotRunCause::None;
    std::string reason; ///< one sentence
    std::vector<Evidence> evidence;
    bool again = false;     ///< something of ours (or a kill from outside) came between: worth one more try
    bool disturbed = false; ///< no measurement, since clocks disagree: perhaps by what the candidate leaves behind
};

/// The value, or the verdict that ends the evaluation.
template <typename T>
using Judged = std::expected<T, Verdict>;

inline std::unexpected<Verdict> rejected(Outcome outcome, std::string_view check, std::string sentence)
{
    Verdict verdict{outcome, NotRunCause::None, sentence, {{std::string(check), std::move(sentence)}}, false};
    return std::unexpected(std::move(verdict));
}

inline std::unexpected<Verdict> notRun(NotRunCause cause, std::string reason)
{
    return std::unexpected(Verdict{Outcome::NotRun, cause, std::move(reason), {}, false});
}

/// An error of ours says nothing about the candidate.
inline Verdict infrastructure(const Error& error)
{
    const bool cancelled = error.code == ErrorCode::Cancelled;
    return {Outcome::NotRun,
            cancelled ? NotRunCause::Cancelled : NotRunCause::Infrastructure,
            error.message,
            {},
            error.code == ErrorCode::WorkerLost};
}

/// Result<T> into Judged<T>.
template <typename T>
Judged<T> orInfrastructure(Result<T> result)
{
    if (!result) {
        return std::unexpected(infrastructure(result.error()));
    }
    if constexpr (std::is_void_v<T>) {
        return {};
    } else {
        return std::move(*result);
    }
}

} // namespace espalier::judge
