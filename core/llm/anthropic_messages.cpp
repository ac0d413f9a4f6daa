// SPDX-License-Identifier: Apache-2.0
#include "core/llm/dialect.h"
#include "core/llm/json_pick.h"
#include "core/llm/request_parts.h"

#include <algorithm>

namespace espalier::llm {

namespace {

/// input_tokens leaves out what came from the cache or went into it; Usage counts all of the input.
void readMessagesUsage(const Json& usage, Usage& into)
{
    std::int64_t fresh = -1, cached = 0, written = 0;
    pick::count(usage, "input_tokens", fresh);
    pick::count(usage, "cache_read_input_tokens", cached);
    pick::count(usage, "cache_creation_input_tokens", written);
    if (fresh >= 0) {
        into.input = fresh + cached + written;
        into.cachedInput = cached;
    }
    pick::count(usage, "output_tokens", into.output);
}

void readStopReason(std::string_view reason, Reading& into)
{
    if (reason == "max_tokens" || reason == "model_context_window_exceeded") {
        into.finish = Finish::Length;
    } else if (reason == "refusal") {
        into.finish = Finish::Refused;
    } else if (!reason.empty()) {
        into.finish = Finish::Complete;
    }
}

/// Tokens of thinking for models that take a budget in place of an effort; it must leave room for the answer.
std::int64_t thinkingBudget(std::string_view effort, std::int64_t outputTokens)
{
    const std::int64_t wanted = effort == "low" ? 2048 : effort == "medium" ? 8192 : 16384;
    return std::max<std::int64_t>(std::min(wanted, outputTokens * 3 / 4), 1024);
}

class AnthropicMessages final : public Dialect
{
public:
    std::string_view provider() const override { return "anthropic"; }
    std::string_view usualBaseUrl() const override { return "https://api.anthropic.com/v1"; }
    std::string_view version() const override { return "v1"; }
    std::vector<std::string> keyVariables() const override { return {"ANTHROPIC_API_KEY"}; }
    std::string chatPath(std::string_view, bool) const override { return "/messages"; }

    std::vector<std::pair<std::string, std::string>> headers(std::string_view key) const override
    {
        std::vector<std::pair<std::string, std::string>> headers = {{"anthropic-version", "2023-06-01"}};
        if (!key.empty()) {
            headers.emplace_back("x-api-key", key);
        }
        return headers;
    }

    Json body(const ChatRequest& request, const ModelLimits& limits, std::string_view model,
              std::string_view) const override
    {
        const RequestParts parts = partsFor(request, limits);
        Json body = {{"model", model},
                     {"max_tokens", parts.outputTokens},
                     {"messages", Json::array()},
                     {"stream", limits.stream}};
        if (!parts.system.empty()) {
            body["system"] = parts.system;
        }
        for (const Message& message : parts.messages) {
            body["messages"].push_back({{"role", message.role}, {"content", message.text}});
        }
        const bool thinks = !request.reasoningEffort.empty() && limits.effort < 2;
        if (thinks && limits.effort == 0) {
            body["thinking"] = {{"type", "adaptive"}};
            body["output_config"]["effort"] = request.reasoningEffort;
        } else if (thinks && parts.outputTokens > 1024) {
            body["thinking"] = {{"type", "enabled"},
                                {"budget_tokens", thinkingBudget(request.reasoningEffort, parts.outputTokens)}};
        }
        if (request.temperature && limits.temperature && !thinks) { // thinking allows no other than the usual one
            body["temperature"] = *request.temperature;
        }
        if (!parts.schema.is_null()) {
            body["output_config"]["format"] = {{"type", "json_schema"}, {"schema", parts.schema}};
        }
        return body;
    }

    void readEvent(const Json& data, Reading& into) const override
    {
        const auto type = pick::text(data, "type");
        if (type == "message_start") {
            const Json& message = pick::member(data, "message");
            into.model = pick::text(message, "model");
            readMessagesUsage(pick::member(message, "usage"), into.usage);
        } else if (type == "content_block_start") {
            const Json& block = pick::member(data, "content_block");
            into.text += pick::text(block, "text");
            into.reasoning += pick::text(block, "thinking");
        } else if (type == "content_block_delta") {
            const Json& delta = pick::member(data, "delta");
            into.text += pick::text(delta, "text");
            into.reasoning += pick::text(delta, "thinking");
        } else if (type == "message_delta") {
            readStopReason(pick::text(pick::member(data, "delta"), "stop_reason"), into);
            readMessagesUsage(pick::member(data, "usage"), into.usage);
        } else if (type == "message_stop") {
            into.ended = true;
        } else if (type == "error") {
            into.error = providerErrorOf(pick::member(data, "error"));
        }
    }

    void readWhole(const Json& answer, Reading& into) const override
    {
        into.model = pick::text(answer, "model");
        readMessagesUsage(pick::member(answer, "usage"), into.usage);
        for (const Json& block : pick::member(answer, "content")) {
            into.text += pick::text(block, "text");
            into.reasoning += pick::text(block, "thinking");
        }
        readStopReason(pick::text(answer, "stop_reason"), into);
        into.ended = into.finish.has_value();
        if (const Json& error = pick::member(answer, "error"); !error.is_null()) {
            into.error = providerErrorOf(error);
        }
    }

    std::string modelsPath() const override { return "/models?limit=1000"; }
    std::vector<std::string> models(const Json& answer) const override { return openaiChat().models(answer); }
};

} // namespace

const Dialect& anthropicMessages()
{
    static const AnthropicMessages dialect;
    return dialect;
}

} // namespace espalier::llm
