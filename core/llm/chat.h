// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace espalier::llm {

/// One question to a language model and what came back. Plain values; nothing here knows a provider's wire format.

struct Message {
    std::string role; ///< "system", "user", "assistant"
    std::string text; ///< UTF-8
    bool operator==(const Message&) const = default;
};

struct ChatRequest {
    std::vector<Message> messages;
    std::int64_t maxOutputTokens = 16384; ///< reasoning included; clamped to what the model is known to allow
    std::optional<double> temperature;    ///< left out where the model is known to refuse it
    std::string reasoningEffort;          ///< "", "low", "medium", "high"; left out where it is not understood
    std::string jsonSchema;               ///< a JSON schema the answer should follow; empty: free text
    std::string purpose;                  ///< "idea", "implement", "repair", …: for records and the replay provider
    /// What it is about, in words that no measured figure and no wording of a prompt changes: "softmax_f32: root",
    /// "softmax_f32: Keep the row in registers #0". With `purpose` it names an exchange that was recorded by hand.
    std::string subject;
    /// Where it was asked before and not answered (WireRecord::url of that time); empty: nowhere. Who asks by files
    /// asks under the same name again.
    std::string askedAt;
};

/// Tokens as the provider billed them; -1: it did not say.
struct Usage {
    std::int64_t input = -1, output = -1, cachedInput = -1, reasoning = -1;
    bool operator==(const Usage&) const = default;
};

/// How an answer ended.
enum class Finish {
    Complete,  ///< the provider's terminal marker was seen
    Length,    ///< the output budget is exhausted
    Truncated, ///< the stream ended without a terminal marker: never to be compiled
    Refused,   ///< a content filter or the model itself declined
    TooLong,   ///< longer than any model's answer is; only its begin was kept
};
/// What is kept of an answer that is too long, in bytes.
inline constexpr std::size_t keptOfTooLong = std::size_t{64} << 10;
std::string_view nameOf(Finish finish); ///< "complete", "length", "truncated", "refused", "too_long"

struct ChatAnswer {
    std::string text;      ///< without reasoning, whole
    std::string reasoning; ///< what the provider showed of it, tags removed
    Finish finish = Finish::Complete;
    Usage usage;
    std::string model;                    ///< as the provider named it
    std::vector<std::string> adjustments; ///< "max_tokens 20000 clamped to 16384: …", shown to the engineer
    int attempts = 1;                     ///< requests sent, retries included
    double firstTokenSeconds = 0, seconds = 0;
    std::int64_t httpStatus = 0;
};

/// Why a request ended without an answer.
struct ChatFailure {
    enum class Kind {
        Unreachable, ///< name, connection, TLS, proxy
        Deadline,    ///< connect, first token, stall or total
        Rejected,    ///< 4xx that no adjustment cures: key, model, path
        RateLimited, ///< retries used up
        Quota,       ///< billing or quota: the run pauses, local work goes on
        Overflow,    ///< the context does not fit the model
        Server,      ///< 5xx, retries used up
        NotRecorded, ///< replay: no such exchange
        Cancelled,
        Unusable, ///< not the protocol this provider speaks
    };
    Kind kind = Kind::Rejected;
    std::string message; ///< one sentence with the exact URL (secrets removed), the provider's own words and the remedy
    std::int64_t httpStatus = 0;
    std::optional<double> retryAfterSeconds; ///< when the provider named a time beyond the cap
    Usage usage;                             ///< what was billed all the same
    std::string partialText;                 ///< what had arrived, for the record
};
std::string_view nameOf(ChatFailure::Kind kind); ///< "unreachable", "deadline", "rate_limited", …

/// A record of exactly what went over the wire, for the store: redacted, never with a key.
struct WireRecord {
    std::string url, requestBody, responseBody;
};

namespace chat {
struct Sent {
    RequestId id;
    WireRecord wire;
}; ///< told before the first byte leaves
struct Delta {
    RequestId id;
    std::string text;
}; ///< new text of an answer, for a live view
struct Answered {
    RequestId id;
    ChatAnswer answer;
    WireRecord wire;
};
struct Failed {
    RequestId id;
    ChatFailure failure;
    WireRecord wire;
};
using Event = std::variant<Sent, Delta, Answered, Failed>;
} // namespace chat

/// One configured model behind one provider. Thread: one, the engine's; nothing blocks. Many requests at once. A
/// request is not sent before the caller has seen no error from its own store: start() only queues, the bytes leave in
/// the first receive() after release(id), so that the caller can write the request down first. Errors are events.
class ChatClient
{
public:
    virtual ~ChatClient() = default;
    virtual std::string_view provider() const = 0; ///< "openai", "anthropic", "command", "replay", …
    virtual std::string_view model() const = 0;
    /// Queues it; returns the exact (redacted) request for the record.
    virtual WireRecord start(RequestId id, const ChatRequest& request) = 0;
    virtual void release(RequestId id) = 0; ///< the request is on record: send it
    virtual void cancel(RequestId id) = 0;  ///< ended without an answer: Failed (Cancelled), with what had come
    /// Some of its answer has come and was paid for, and more is on its way: worth a moment even when a run pauses.
    virtual bool answering(RequestId) const { return false; }
    virtual int descriptor() const = 0;          ///< readable (poll) when receive() has work; -1: none
    virtual int timeoutMilliseconds() const = 0; ///< until receive() is due without input; -1: none
    virtual std::vector<chat::Event> receive() = 0;
};

/// What names a model: a saved profile or the command line's options.
struct ModelProfile {
    std::string name;     ///< of the profile; for messages
    std::string provider; ///< openai, openai-responses, anthropic, gemini, command, manual, replay
    std::string baseUrl;  ///< empty: the provider's own
    std::string model;
    std::vector<std::string> command; ///< provider command: program and arguments
    std::string folder;               ///< manual and replay: where files are exchanged or recorded
    std::vector<std::pair<std::string, std::string>> headers; ///< added to each request; values may be secrets
    std::string proxy, caBundle;
    std::string keyVariable; ///< environment variable; empty: ESPALIER_API_KEY, then the provider's usual ones, then
                             ///< the keychain
    double connectSeconds = 15, firstTokenSeconds = 300, stallSeconds = 120, totalSeconds = 1800;
    double retryAfterCapSeconds = 120;
    int mostRetries = 4;
    std::int64_t contextTokens = 0;    ///< 0: unknown, the table's or 128,000
    double weight = 1;                 ///< share of the requests among several models
    std::vector<std::string> channels; ///< what may be sent to it; empty: everything but attached files
};

/// Errors: InvalidInput (unknown provider, no model, bad URL), NotFound (no key where the provider needs one: names the
/// variables that were looked at; command not installed).
Result<std::unique_ptr<ChatClient>> makeClient(const ModelProfile& profile);

} // namespace espalier::llm
