// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Tokens as a provider billed them; -1: it did not say.
struct TokenCounts {
    std::int64_t input = -1, output = -1, cachedInput = -1, reasoning = -1;
    /// Input and output together; 0 where nothing is known (reasoning and cached tokens are parts of the two).
    std::int64_t total() const { return (input > 0 ? input : 0) + (output > 0 ? output : 0); }
    bool operator==(const TokenCounts&) const = default;
};

/// One channel of a prompt as it was sent, or what happened to it instead.
struct PromptPart {
    std::string channel;            ///< "task", "device", "parent", …
    std::int64_t tokens = 0;        ///< estimate of what was sent of it
    std::string note;               ///< empty: whole; "shortened: …", "left out: …"
    std::vector<std::string> files; ///< attached files whose text went with it
    bool sent = true;
    bool operator==(const PromptPart&) const = default;
};

/// One question to a language model and its answer, as the session keeps it. Secrets were removed before it was made.
/// A value. Sent: on record, no answer yet: under way, or (where nobody bills, isBilled()) open until somebody answers,
/// over pauses and restarts. Lost: a pause or the end of the process came before the whole answer; the provider may
/// have billed it.
struct Exchange {
    enum class State { Sent, Answered, Failed, Lost };

    std::int64_t id = 0;
    NodeId node{0};      ///< the candidate that is written, or the node under which ideas were asked for
    std::string key;     ///< names the question within the session: an answered one is not asked again
    std::string purpose; ///< "idea", "implement", "repair", …
    std::string subject; ///< what about, in words
    std::string provider, model, profile;
    std::string url;
    std::string promptHash;     ///< SHA-256 of the template
    std::string system, prompt; ///< what the model reads
    std::string request;        ///< the body as it went over the wire, redacted
    std::vector<PromptPart> parts;
    State state = State::Sent;
    std::string answer, reasoning;
    std::string finish;             ///< "complete", "length", "truncated", "refused"; empty before the end
    std::string reason;             ///< Failed, Lost: one sentence
    std::vector<std::string> notes; ///< adjustments, dropped ideas, which block was taken
    TokenCounts tokens;
    std::int64_t estimatedInput = 0, estimatedTokens = 0; ///< before it was sent; the latter with the answer
    std::optional<double> estimatedUsd;                   ///< of all of it; nullopt: no price is known
    std::optional<double> usd; ///< nullopt: no price is known for the model, or no usage was told
    int attempts = 1;          ///< requests sent, retries included
    double firstTokenSeconds = 0, seconds = 0;
    std::string sentAt, endedAt; ///< ISO 8601, UTC
    bool operator==(const Exchange&) const = default;
};
std::string_view nameOf(Exchange::State state); ///< "sent", "answered", "failed", "lost"
std::optional<Exchange::State> exchangeStateNamed(std::string_view name);
/// Providers of ours, at which a question costs nothing that we would count: people, programs and recordings.
inline constexpr std::array<std::string_view, 3> freeProviders = {"manual", "command", "replay"};
bool isBilled(std::string_view provider);

/// What requests have cost: of one node, a branch, or a session.
struct Spending {
    std::int64_t requests = 0;
    std::int64_t input = 0, output = 0, cachedInput = 0, reasoning = 0; ///< tokens
    double usd = 0;                                                     ///< of those whose price is known
    std::int64_t unpriced = 0; ///< requests that used tokens at an unknown price
    std::int64_t lost = 0;     ///< requests whose answer never came: what they cost is not known
    double possibleUsd = 0;    ///< what the lost ones may have cost at most, where the price is known
    std::int64_t possibleTokens = 0;
    std::int64_t tokens() const { return input + output; }
    void add(const Exchange& exchange);
    void add(const Spending& other);
    bool operator==(const Spending&) const = default;
};

} // namespace espalier
