// SPDX-License-Identifier: Apache-2.0
#include "core/llm/request_parts.h"

#include <algorithm>

namespace espalier::llm {

namespace {

void addWords(std::string& to, std::string_view words)
{
    if (!to.empty()) {
        to += "\n\n";
    }
    to += words;
}

} // namespace

RequestParts partsFor(const ChatRequest& request, const ModelLimits& limits)
{
    RequestParts parts;
    for (const Message& message : request.messages) {
        if (message.role == "system") {
            addWords(parts.system, message.text);
        } else {
            parts.messages.push_back(message);
        }
    }
    if (parts.messages.empty()) {
        parts.messages.push_back({"user", std::exchange(parts.system, {})});
    }
    if (!limits.systemRole && !parts.system.empty()) {
        parts.messages.front().text = std::exchange(parts.system, {}) + "\n\n" + parts.messages.front().text;
    }
    if (!request.jsonSchema.empty()) {
        parts.schema = Json::parse(request.jsonSchema, nullptr, false);
        if (limits.schema > 0 || !parts.schema.is_object()) {
            addWords(parts.messages.back().text,
                     "Answer with JSON alone, without a code fence, that follows this JSON schema:\n" +
                         request.jsonSchema);
            parts.schema = nullptr;
        }
    }
    parts.outputTokens = std::max<std::int64_t>(request.maxOutputTokens, 1);
    if (limits.mostOutput > 0) {
        parts.outputTokens = std::min(parts.outputTokens, limits.mostOutput);
    }
    return parts;
}

Json schemaForGemini(Json schema)
{
    if (schema.is_object()) {
        for (const char* field : {"$schema", "$id", "additionalProperties", "strict", "default", "examples", "const"}) {
            schema.erase(field);
        }
    }
    if (schema.is_structured()) {
        for (Json& each : schema) {
            each = schemaForGemini(std::move(each));
        }
    }
    return schema;
}

} // namespace espalier::llm
