// SPDX-License-Identifier: Apache-2.0
// Chat completions as OpenAI defined them and as OpenRouter, DeepSeek, vLLM, SGLang, llama.cpp, Ollama, LM Studio,
// Mistral and others answer them.
#include "core/llm/dialect.h"
#include "core/llm/json_pick.h"
#include "core/llm/request_parts.h"

namespace espalier::llm {

namespace {

void readChatUsage(const Json& usage, Usage& into)
{
    pick::count(usage, "prompt_tokens", into.input);
    pick::count(usage, "completion_tokens", into.output);
    pick::count(usage, "prompt_cache_hit_tokens", into.cachedInput); // DeepSeek
    pick::count(pick::member(usage, "prompt_tokens_details"), "cached_tokens", into.cachedInput);
    pick::count(pick::member(usage, "completion_tokens_details"), "reasoning_tokens", into.reasoning);
}

std::optional<Finish> chatFinish(std::string_view reason)
{
    if (reason == "length" || reason == "max_tokens" || reason == "max_output_tokens") {
        return Finish::Length;
    }
    if (reason == "content_filter" || reason == "refusal" || reason == "safety") {
        return Finish::Refused;
    }
    if (reason.empty() || reason == "error" || reason == "insufficient_system_resource" || reason == "abort") {
        return std::nullopt; // the server gave up: what is there is no whole answer
    }
    return Finish::Complete;
}

/// Content is a text, or a list of parts of which some are thinking (Mistral).
void readContent(const Json& content, Reading& into)
{
    into.text += pick::text(content);
    if (!content.is_array()) {
        return;
    }
    for (const Json& part : content) {
        if (pick::text(part, "type") == "thinking") {
            for (const Json& thought : pick::member(part, "thinking")) {
                into.reasoning += pick::text(thought, "text");
            }
            into.reasoning += pick::text(part, "thinking");
        } else {
            into.text += pick::text(part, "text");
        }
    }
}

class OpenaiChat final : public Dialect
{
public:
    std::string_view provider() const override { return "openai"; }
    std::string_view usualBaseUrl() const override { return "https://api.openai.com/v1"; }
    std::string_view version() const override { return "v1"; }
    std::vector<std::string> keyVariables() const override { return {"OPENAI_API_KEY"}; }
    std::string chatPath(std::string_view, bool) const override { return "/chat/completions"; }

    std::vector<std::pair<std::string, std::string>> headers(std::string_view key) const override
    {
        if (key.empty()) {
            return {};
        }
        return {{"Authorization", "Bearer " + std::string(key)}};
    }

    Json body(const ChatRequest& request, const ModelLimits& limits, std::string_view model,
              std::string_view host) const override
    {
        const RequestParts parts = partsFor(request, limits);
        Json body = {{"model", model}, {"messages", Json::array()}, {"stream", limits.stream}};
        if (!parts.system.empty()) {
            body["messages"].push_back({{"role", "system"}, {"content", parts.system}});
        }
        for (const Message& message : parts.messages) {
            body["messages"].push_back({{"role", message.role}, {"content", message.text}});
        }
        if (limits.stream && limits.streamOptions) {
            body["stream_options"] = {{"include_usage", true}};
        }
        using Field = ModelLimits::TokenField;
        const bool newer = limits.tokenField == Field::MaxCompletionTokens ||
                           (limits.tokenField == Field::Usual && host == "api.openai.com");
        if (limits.tokenField != Field::None) {
            body[newer ? "max_completion_tokens" : "max_tokens"] = parts.outputTokens;
        }
        if (request.temperature && limits.temperature) {
            body["temperature"] = *request.temperature;
        }
        if (!request.reasoningEffort.empty() && limits.effort == 0) {
            body["reasoning_effort"] = request.reasoningEffort;
        }
        if (!parts.schema.is_null()) {
            body["response_format"] = {{"type", "json_schema"},
                                       {"json_schema", {{"name", "answer"}, {"schema", parts.schema}}}};
        }
        return body;
    }

    void readEvent(const Json& data, Reading& into) const override { read(data, "delta", into); }
    void readWhole(const Json& answer, Reading& into) const override
    {
        read(answer, "message", into);
        // What is whole has no other end than its own: a finish reason is often missing here.
        into.ended = into.ended || pick::member(answer, "choices").is_array();
    }
    bool isEnd(std::string_view data) const override { return data == "[DONE]"; }

    std::vector<std::string> models(const Json& answer) const override
    {
        std::vector<std::string> names;
        const Json& list = answer.is_array() ? answer : pick::member(answer, "data");
        for (const Json& entry : list) {
            if (const auto name = pick::text(entry, "id"); !name.empty()) {
                names.emplace_back(name);
            }
        }
        return names;
    }

private:
    static void read(const Json& data, const char* part, Reading& into)
    {
        if (const auto model = pick::text(data, "model"); !model.empty()) {
            into.model = model;
        }
        // Usage stands in the chunk, beside the choice (Moonshot) or in an extension (Groq), with choices empty, null
        // or missing.
        const Json& choice = pick::first(pick::member(data, "choices"));
        readChatUsage(pick::member(data, "usage"), into.usage);
        readChatUsage(pick::member(choice, "usage"), into.usage);
        readChatUsage(pick::member(pick::member(data, "x_groq"), "usage"), into.usage);
        for (const Json* place : {&data, &choice}) {
            if (const Json& error = pick::member(*place, "error"); !error.is_null()) {
                into.error = providerErrorOf(error);
            }
        }
        const Json& message = pick::member(choice, part);
        readContent(pick::member(message, "content"), into);
        into.text += pick::text(choice, "text");
        const auto thought = pick::text(message, "reasoning_content");
        into.reasoning += thought.empty() ? pick::text(message, "reasoning") : thought;
        const auto refusal = pick::text(message, "refusal");
        into.text += refusal;
        if (!refusal.empty()) {
            into.finish = Finish::Refused;
        }
        if (const auto finish = chatFinish(pick::text(choice, "finish_reason"))) {
            into.finish = into.finish == Finish::Refused ? Finish::Refused : *finish;
            into.ended = true;
        }
    }
};

} // namespace

const Dialect& openaiChat()
{
    static const OpenaiChat dialect;
    return dialect;
}

} // namespace espalier::llm
