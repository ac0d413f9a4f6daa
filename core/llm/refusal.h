// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/dialect.h"

#include <optional>
#include <string>

namespace espalier::llm {

/// A request that was answered with an error: what to make of it. Providers agree on neither codes nor words, so these
/// functions read both; each line of them is a refusal seen in the field, with a test. Pure; thread: any.
struct Refusal {
    int status = 0;
    ProviderError error;
    std::optional<double> retryAfterSeconds; ///< header, body or words
};

/// What kind of failure it is when nothing more can be done.
ChatFailure::Kind kindOf(const Refusal& refusal);
/// Waiting may help: 408, 409, 425, 429 that is no quota, 5xx, "overloaded".
bool worthRetrying(const Refusal& refusal);
/// The address, not what was sent to it, may be wrong: 404 or 405 that does not speak of the model.
bool isWrongPath(const Refusal& refusal);

/// How much fits, from a refusal that says the context does not: 0 where it does not say.
struct OverflowFacts {
    std::int64_t contextTokens = 0, promptTokens = 0;
};
/// nullopt: it is about something else.
std::optional<OverflowFacts> overflowOf(const Refusal& refusal);

/// What was sent, as far as an adjustment needs it.
struct Sent {
    std::int64_t outputTokens = 0;
    bool newerTokenField = false; ///< max_completion_tokens, not max_tokens
    bool temperature = false, effort = false, schema = false, system = false, stream = false, streamOptions = false;
};
/// Changes `limits` (or, where only this prompt is too long for the budget, `outputTokens`) so that the request may
/// pass, and says what was changed; nullopt: no change that was not tried before would help.
std::optional<std::string> adjust(const Refusal& refusal, const Sent& sent, ModelLimits& limits,
                                  std::int64_t& outputTokens);

/// Seconds of a Retry-After header ("20" or an HTTP date; `now`: seconds since 1970) or of words ("try again in
/// 1m20s").
std::optional<double> retryAfterOf(std::string_view header, std::int64_t now);
std::optional<double> retryAfterInWords(std::string_view message);

} // namespace espalier::llm
