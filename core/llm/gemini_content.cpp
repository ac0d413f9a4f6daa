// SPDX-License-Identifier: Apache-2.0
#include "core/llm/dialect.h"
#include "core/llm/json_pick.h"
#include "core/llm/request_parts.h"

#include <algorithm>

namespace espalier::llm {

namespace {

Json textParts(std::string_view text)
{
    return Json::array({{{"text", text}}});
}

/// Models before Gemini 3 take a budget of tokens, later ones a level; which one is learned where the name does not
/// say.
Json thinkingConfig(std::string_view effort, std::string_view model, int learned)
{
    const bool older =
        (model.find("2.5") != std::string_view::npos || model.find("2.0") != std::string_view::npos) != (learned == 1);
    if (older) {
        return {{"includeThoughts", true},
                {"thinkingBudget", effort == "low"      ? 2048
                                   : effort == "medium" ? 8192
                                                        : 16384}};
    }
    return {{"includeThoughts", true}, {"thinkingLevel", effort}};
}

std::optional<Finish> contentFinish(std::string_view reason)
{
    if (reason.empty() || reason == "FINISH_REASON_UNSPECIFIED") {
        return std::nullopt;
    }
    return reason == "STOP" ? Finish::Complete : reason == "MAX_TOKENS" ? Finish::Length : Finish::Refused;
}

class GeminiContent final : public Dialect
{
public:
    std::string_view provider() const override { return "gemini"; }
    std::string_view usualBaseUrl() const override { return "https://generativelanguage.googleapis.com/v1beta"; }
    std::string_view version() const override { return "v1beta"; }
    std::vector<std::string> keyVariables() const override { return {"GEMINI_API_KEY", "GOOGLE_API_KEY"}; }

    std::string chatPath(std::string_view model, bool stream) const override
    {
        const std::string name = model.starts_with("models/") || model.starts_with("tunedModels/")
                                     ? std::string(model)
                                     : "models/" + std::string(model);
        return "/" + name + (stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
    }

    std::vector<std::pair<std::string, std::string>> headers(std::string_view key) const override
    {
        if (key.empty()) {
            return {};
        }
        return {{"x-goog-api-key", std::string(key)}}; // never in the URL, which ends up in logs
    }

    Json body(const ChatRequest& request, const ModelLimits& limits, std::string_view model,
              std::string_view) const override
    {
        const RequestParts parts = partsFor(request, limits);
        Json body = {{"contents", Json::array()}, {"generationConfig", Json::object()}};
        if (!parts.system.empty()) {
            body["systemInstruction"] = {{"parts", textParts(parts.system)}};
        }
        for (const Message& message : parts.messages) {
            body["contents"].push_back(
                {{"role", message.role == "assistant" ? "model" : "user"}, {"parts", textParts(message.text)}});
        }
        Json& config = body["generationConfig"];
        if (limits.tokenField != ModelLimits::TokenField::None) {
            config["maxOutputTokens"] = parts.outputTokens;
        }
        if (request.temperature && limits.temperature) {
            config["temperature"] = *request.temperature;
        }
        if (!request.reasoningEffort.empty() && limits.effort < 2) {
            config["thinkingConfig"] = thinkingConfig(request.reasoningEffort, model, limits.effort);
        }
        if (!parts.schema.is_null()) {
            config["responseMimeType"] = "application/json";
            config["responseSchema"] = schemaForGemini(parts.schema);
        }
        return body;
    }

    void readEvent(const Json& data, Reading& into) const override
    {
        if (const auto model = pick::text(data, "modelVersion"); !model.empty()) {
            into.model = model;
        }
        readUsage(pick::member(data, "usageMetadata"), into.usage);
        if (const Json& error = pick::member(data, "error"); !error.is_null()) {
            into.error = providerErrorOf(error);
        }
        if (!pick::text(pick::member(data, "promptFeedback"), "blockReason").empty()) {
            into.finish = Finish::Refused;
            into.ended = true;
        }
        const Json& candidate = pick::first(pick::member(data, "candidates"));
        const Json& parts = pick::member(pick::member(candidate, "content"), "parts");
        if (parts.is_array()) {
            for (const Json& part : parts) {
                const Json& thought = pick::member(part, "thought");
                (thought.is_boolean() && thought.get<bool>() ? into.reasoning : into.text) += pick::text(part, "text");
            }
        }
        if (const auto finish = contentFinish(pick::text(candidate, "finishReason"))) {
            into.finish = *finish;
            into.ended = true;
        }
    }

    /// An object, or (without alt=sse) a list of what would have been events.
    void readWhole(const Json& answer, Reading& into) const override
    {
        if (!answer.is_array()) {
            readEvent(answer, into);
            return;
        }
        for (const Json& piece : answer) {
            readEvent(piece, into);
        }
    }

    std::string modelsPath() const override { return "/models?pageSize=1000"; }
    std::vector<std::string> models(const Json& answer) const override
    {
        std::vector<std::string> names;
        for (const Json& entry : pick::member(answer, "models")) {
            auto name = pick::text(entry, "name");
            name.remove_prefix(name.starts_with("models/") ? 7 : 0);
            const Json& methods = pick::member(entry, "supportedGenerationMethods");
            const bool answers =
                !methods.is_array() || std::find(methods.begin(), methods.end(), "generateContent") != methods.end();
            if (!name.empty() && answers) {
                names.emplace_back(name);
            }
        }
        return names;
    }

private:
    static void readUsage(const Json& usage, Usage& into)
    {
        pick::count(usage, "promptTokenCount", into.input);
        pick::count(usage, "cachedContentTokenCount", into.cachedInput);
        pick::count(usage, "thoughtsTokenCount", into.reasoning);
        std::int64_t answer = -1;
        pick::count(usage, "candidatesTokenCount", answer);
        if (answer >= 0 || into.reasoning >= 0) {
            into.output = std::max<std::int64_t>(answer, 0) + std::max<std::int64_t>(into.reasoning, 0);
        }
    }
};

} // namespace

const Dialect& geminiContent()
{
    static const GeminiContent dialect;
    return dialect;
}

const Dialect* dialectOf(std::string_view provider)
{
    for (const Dialect* dialect : {&openaiChat(), &openaiResponses(), &anthropicMessages(), &geminiContent()}) {
        if (dialect->provider() == provider) {
            return dialect;
        }
    }
    return nullptr;
}

} // namespace espalier::llm
