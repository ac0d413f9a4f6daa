// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/model/exchange.h"

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// Where a proposer writes down what it asks and what it was answered, before either counts, and where the caps are
/// kept. Thread: the engine's. Errors: the session's store; then nothing may be sent or used.
class ExchangeLog
{
public:
    virtual ~ExchangeLog() = default;
    /// The answer that the session already has to this question: it is used and not asked for again.
    virtual Result<std::optional<Exchange>> answered(const std::string& key) = 0;
    /// The question as it was asked before a pause or in an earlier run, without an answer since: it is asked again as
    /// it was, whatever is known by now.
    virtual Result<std::optional<Exchange>> unanswered(const std::string& key) = 0;
    /// Whether the model of this profile has answered anything in this session.
    virtual bool hasAnswered(const std::string& profile) const = 0;
    /// Why a request of about this size may not go out: a sentence that names the cap. nullopt: it may. Requests under
    /// way count with their estimates.
    virtual std::optional<std::string> refusal(std::int64_t tokens, std::optional<double> usd) const = 0;
    /// On disk when it returns; the id it got, or kept where it has one already (it was left open). Only then may the
    /// request leave.
    virtual Result<std::int64_t> sent(const Exchange& exchange) = 0;
    /// Not under way any more, and still without an answer: it stays on disk as it is.
    virtual void leftOpen(const Exchange& exchange) = 0;
    /// Answered, failed or lost: on disk when it returns. Only then may the answer be used.
    virtual Result<void> ended(const Exchange& exchange) = 0;
    /// New text of an answer that is still arriving: for a live view, kept nowhere.
    virtual void grew(const Exchange& exchange, std::string_view text) = 0;
};

} // namespace espalier
