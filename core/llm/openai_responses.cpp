// SPDX-License-Identifier: Apache-2.0
#include "core/llm/dialect.h"
#include "core/llm/json_pick.h"
#include "core/llm/request_parts.h"

namespace espalier::llm {

namespace {

/// Text and reasoning summaries of response.output.
void readOutput(const Json& output, Reading& into)
{
    if (!output.is_array()) {
        return;
    }
    for (const Json& item : output) {
        const bool reasoning = pick::text(item, "type") == "reasoning";
        for (const Json& part : pick::member(item, reasoning ? "summary" : "content")) {
            (reasoning ? into.reasoning : into.text) += pick::text(part, "text");
            if (const auto refusal = pick::text(part, "refusal"); !refusal.empty()) {
                into.text += refusal;
                into.finish = Finish::Refused;
            }
        }
    }
}

/// The response object at the end of a stream, or alone. Its output is read only where nothing was streamed before.
void readResponse(const Json& response, Reading& into)
{
    if (const auto model = pick::text(response, "model"); !model.empty()) {
        into.model = model;
    }
    const Json& usage = pick::member(response, "usage");
    pick::count(usage, "input_tokens", into.usage.input);
    pick::count(usage, "output_tokens", into.usage.output);
    pick::count(pick::member(usage, "input_tokens_details"), "cached_tokens", into.usage.cachedInput);
    pick::count(pick::member(usage, "output_tokens_details"), "reasoning_tokens", into.usage.reasoning);
    if (into.text.empty()) {
        readOutput(pick::member(response, "output"), into);
    }
    const auto status = pick::text(response, "status");
    if (status == "completed") {
        into.finish = into.finish.value_or(Finish::Complete);
        into.ended = true;
    } else if (status == "incomplete") {
        const auto reason = pick::text(pick::member(response, "incomplete_details"), "reason");
        into.finish = reason == "content_filter" ? Finish::Refused : Finish::Length;
        into.ended = true;
    } else if (const Json& error = pick::member(response, "error"); !error.is_null()) {
        into.error = providerErrorOf(error);
    }
}

class OpenaiResponses final : public Dialect
{
public:
    std::string_view provider() const override { return "openai-responses"; }
    std::string_view usualBaseUrl() const override { return openaiChat().usualBaseUrl(); }
    std::string_view version() const override { return "v1"; }
    std::vector<std::string> keyVariables() const override { return openaiChat().keyVariables(); }
    std::string chatPath(std::string_view, bool) const override { return "/responses"; }
    std::vector<std::pair<std::string, std::string>> headers(std::string_view key) const override
    {
        return openaiChat().headers(key);
    }
    std::vector<std::string> models(const Json& answer) const override { return openaiChat().models(answer); }
    bool isEnd(std::string_view) const override { return false; } // [DONE] alone says nothing here

    Json body(const ChatRequest& request, const ModelLimits& limits, std::string_view model,
              std::string_view) const override
    {
        const RequestParts parts = partsFor(request, limits);
        Json body = {{"model", model}, {"input", Json::array()}, {"stream", limits.stream}, {"store", false}};
        if (!parts.system.empty()) {
            body["instructions"] = parts.system;
        }
        for (const Message& message : parts.messages) {
            body["input"].push_back({{"role", message.role}, {"content", message.text}});
        }
        if (limits.tokenField != ModelLimits::TokenField::None) {
            body["max_output_tokens"] = parts.outputTokens;
        }
        if (request.temperature && limits.temperature) {
            body["temperature"] = *request.temperature;
        }
        if (!request.reasoningEffort.empty() && limits.effort == 0) {
            body["reasoning"] = {{"effort", request.reasoningEffort}};
        }
        if (!parts.schema.is_null()) {
            body["text"] = {{"format", {{"type", "json_schema"}, {"name", "answer"}, {"schema", parts.schema}}}};
        }
        return body;
    }

    void readEvent(const Json& data, Reading& into) const override
    {
        const auto type = pick::text(data, "type");
        if (type == "response.output_text.delta") {
            into.text += pick::text(data, "delta");
        } else if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
            into.reasoning += pick::text(data, "delta");
        } else if (type == "response.refusal.delta") {
            into.text += pick::text(data, "delta");
            into.finish = Finish::Refused;
        } else if (type == "response.completed" || type == "response.incomplete" || type == "response.failed") {
            readResponse(pick::member(data, "response"), into);
        } else if (type == "error") {
            const Json& inner = pick::member(data, "error");
            into.error = providerErrorOf(inner.is_null() ? data : inner);
        }
    }
    void readWhole(const Json& answer, Reading& into) const override { readResponse(answer, into); }
};

} // namespace

const Dialect& openaiResponses()
{
    static const OpenaiResponses dialect;
    return dialect;
}

} // namespace espalier::llm
