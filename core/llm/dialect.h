// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/llm/chat.h"
#include "core/llm/model_limits.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier::llm {

/// An error in the provider's own words, whatever JSON it came in.
struct ProviderError {
    std::string message, type, code, param;
    int status = 0;                                   ///< where the body names one; 0: none
    std::optional<double> retryAfterSeconds;          ///< where the body names one
    std::int64_t promptTokens = 0, contextTokens = 0; ///< where the body has them as fields
    std::string quota;                                ///< Google's name of the quota that was exceeded
};

/// What an answer has said so far.
struct Reading {
    std::string text, reasoning;
    std::optional<Finish> finish; ///< the provider's reason, once it was given
    bool ended = false;           ///< the dialect's terminal marker was seen
    Usage usage;
    std::string model;
    std::optional<ProviderError> error; ///< an error inside a stream that began well
};

/// One wire format: requests to JSON, JSON to pieces of an answer. Pure; thread: any; owns nothing. Whatever a server
/// sends is read without failing: a field of another type counts as missing.
class Dialect
{
public:
    virtual ~Dialect() = default;
    virtual std::string_view provider() const = 0;
    virtual std::string_view usualBaseUrl() const = 0;
    virtual std::string_view version() const = 0; ///< "v1": path segment of a base URL
    virtual std::vector<std::string> keyVariables() const = 0;
    virtual std::string chatPath(std::string_view model, bool stream) const = 0;
    virtual std::vector<std::pair<std::string, std::string>>
    headers(std::string_view key) const = 0; ///< key may be empty
    virtual Json body(const ChatRequest& request, const ModelLimits& limits, std::string_view model,
                      std::string_view host) const = 0;
    /// One event of a stream. "[DONE]" and the like arrive through done().
    virtual void readEvent(const Json& data, Reading& into) const = 0;
    /// An answer that was not streamed.
    virtual void readWhole(const Json& answer, Reading& into) const = 0;
    /// data that is not JSON and ends a stream; false: it means nothing.
    virtual bool isEnd(std::string_view data) const
    {
        (void)data;
        return false;
    }
    virtual std::string modelsPath() const { return "/models"; }
    /// Names out of the answer of modelsPath().
    virtual std::vector<std::string> models(const Json& answer) const = 0;
};

const Dialect& openaiChat();
const Dialect& openaiResponses();
const Dialect& anthropicMessages();
const Dialect& geminiContent();
/// By the name in a profile; null: there is none of that name.
const Dialect* dialectOf(std::string_view provider);

/// Reads the body of a refusal. Never fails: what is no known JSON becomes the message, shortened.
ProviderError providerErrorOf(std::string_view body);
ProviderError providerErrorOf(const Json& error);

} // namespace espalier::llm
