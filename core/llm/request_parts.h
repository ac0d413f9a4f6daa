// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/llm/chat.h"
#include "core/llm/model_limits.h"

#include <string>
#include <vector>

namespace espalier::llm {

/// What the four wire formats prepare alike: the messages after what was learned about the model. Pure; thread: any.
struct RequestParts {
    std::string system;            ///< all system messages, where the model takes them
    std::vector<Message> messages; ///< user and assistant; the schema in words where structured output was refused
    Json schema;                   ///< null: free text, or the schema stands in the messages
    std::int64_t outputTokens = 0; ///< the budget after clamping
};
RequestParts partsFor(const ChatRequest& request, const ModelLimits& limits);

/// Without what Google's schema dialect does not know ($schema, additionalProperties, …).
Json schemaForGemini(Json schema);

} // namespace espalier::llm
