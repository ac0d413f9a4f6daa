// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/llm/chat.h"

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace espalier::llm {

/// One recorded exchange, as the provider *replay* finds it and the recorder writes it: one JSON object a line.
///
///     {"purpose": "implement", "subject": "softmax_f32: Keep the row in registers #0", "origin": "written for the
///     tests",
///      "answer": {"text": "…" | "text_file": "NAME.md", "reasoning": "…", "finish": "complete", "model": "…",
///                 "usage": {"input": 1200, "output": 800, "cached": 0, "reasoning": 0}}}
///
/// In place of "answer": "failure": {"kind": "overflow", "message": "…"}. Recorded ones also have "key" (exchangeKey)
/// and "messages". "ordinal" orders exchanges that answer the same request; the order of the lines does where it is
/// missing.
struct Exchange {
    std::string key; ///< empty: found by purpose and subject alone
    std::string purpose, subject;
    int ordinal = 0;
    std::string origin; ///< who wrote it; shown with the answer
    std::vector<Message> messages;
    std::variant<ChatAnswer, ChatFailure> outcome;
};

/// Names a request by its purpose and messages: SHA-256.
std::string exchangeKey(const ChatRequest& request);

Json toJson(const Exchange& exchange);
/// `folder`: where "text_file" is looked up. Errors: InvalidInput naming `name` and the field; NotFound, Io.
Result<Exchange> exchangeFrom(const Json& json, const std::string& name, const std::filesystem::path& folder);

/// All exchanges of one .jsonl file, or of those in a folder in the order of their names; empty lines and lines that
/// begin with # are skipped. Errors: NotFound; InvalidInput naming file and line.
Result<std::vector<Exchange>> readExchanges(const std::filesystem::path& fileOrFolder);

} // namespace espalier::llm
