// SPDX-License-Identifier: Apache-2.0
#include "core/llm/exchange.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace espalier::llm {

namespace fs = std::filesystem;

namespace {

constexpr std::array finishes = {Finish::Complete, Finish::Length, Finish::Truncated, Finish::Refused, Finish::TooLong};

Json usageJson(const Usage& usage)
{
    return {{"input", usage.input},
            {"output", usage.output},
            {"cached", usage.cachedInput},
            {"reasoning", usage.reasoning}};
}

Json answerJson(const ChatAnswer& answer)
{
    Json json = {{"text", answer.text},
                 {"finish", nameOf(answer.finish)},
                 {"model", answer.model},
                 {"usage", usageJson(answer.usage)}};
    if (!answer.reasoning.empty()) {
        json["reasoning"] = answer.reasoning;
    }
    return json;
}

Json failureJson(const ChatFailure& failure)
{
    Json json = {{"kind", nameOf(failure.kind)}, {"message", failure.message}, {"usage", usageJson(failure.usage)}};
    if (failure.retryAfterSeconds) {
        json["retry_after_seconds"] = *failure.retryAfterSeconds;
    }
    return json;
}

Result<std::string> text(const JsonReader& reader, const char* field)
{
    if (!reader.has(field)) {
        return std::string();
    }
    ESPALIER_TRY(const JsonReader value, reader.at(field));
    return value.string();
}

Result<std::int64_t> tokens(const JsonReader& reader, const char* field)
{
    if (!reader.has(field)) {
        return -1;
    }
    ESPALIER_TRY(const JsonReader value, reader.at(field));
    return value.integer();
}

Result<Usage> usageFrom(const JsonReader& reader)
{
    Usage usage;
    if (!reader.has("usage")) {
        return usage;
    }
    ESPALIER_TRY(const JsonReader json, reader.at("usage"));
    ESPALIER_CHECK(json.onlyFields({"input", "output", "cached", "reasoning"}));
    ESPALIER_TRY(usage.input, tokens(json, "input"));
    ESPALIER_TRY(usage.output, tokens(json, "output"));
    ESPALIER_TRY(usage.cachedInput, tokens(json, "cached"));
    ESPALIER_TRY(usage.reasoning, tokens(json, "reasoning"));
    return usage;
}

Result<ChatAnswer> answerFrom(const JsonReader& reader, const fs::path& folder)
{
    ESPALIER_CHECK(reader.onlyFields({"text", "text_file", "reasoning", "finish", "model", "usage"}));
    ChatAnswer answer;
    ESPALIER_TRY(answer.text, text(reader, "text"));
    if (reader.has("text_file")) {
        ESPALIER_TRY(const std::string file, text(reader, "text_file"));
        if (file.empty() || file.find('/') != std::string::npos) {
            ESPALIER_TRY(const JsonReader named, reader.at("text_file"));
            return named.complain("the name of a file beside this one");
        }
        ESPALIER_TRY(answer.text, readFile(folder / file));
    } else if (!reader.has("text")) {
        return reader.complain("a text or a text_file");
    }
    ESPALIER_TRY(answer.reasoning, text(reader, "reasoning"));
    ESPALIER_TRY(answer.model, text(reader, "model"));
    ESPALIER_TRY(answer.usage, usageFrom(reader));
    if (reader.has("finish")) {
        ESPALIER_TRY(const JsonReader named, reader.at("finish"));
        ESPALIER_TRY(const std::string name, named.oneOf({"complete", "length", "truncated", "refused"}));
        answer.finish =
            *std::find_if(finishes.begin(), finishes.end(), [&](Finish finish) { return nameOf(finish) == name; });
    }
    return answer;
}

Result<ChatFailure> failureFrom(const JsonReader& reader)
{
    ESPALIER_CHECK(reader.onlyFields({"kind", "message", "usage", "retry_after_seconds"}));
    ChatFailure failure;
    ESPALIER_TRY(const JsonReader kind, reader.at("kind"));
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(ChatFailure::Kind::Unusable); ++i) {
        names.emplace_back(nameOf(static_cast<ChatFailure::Kind>(i)));
    }
    ESPALIER_TRY(const std::string name, kind.oneOf(names));
    failure.kind = static_cast<ChatFailure::Kind>(std::find(names.begin(), names.end(), name) - names.begin());
    ESPALIER_TRY(failure.message, text(reader, "message"));
    ESPALIER_TRY(failure.usage, usageFrom(reader));
    if (reader.has("retry_after_seconds")) {
        ESPALIER_TRY(const JsonReader seconds, reader.at("retry_after_seconds"));
        ESPALIER_TRY(failure.retryAfterSeconds, seconds.number());
    }
    return failure;
}

Result<std::vector<Message>> messagesFrom(const JsonReader& reader)
{
    std::vector<Message> messages;
    ESPALIER_TRY(const auto items, reader.items());
    for (const JsonReader& item : items) {
        Message message;
        ESPALIER_TRY(message.role, text(item, "role"));
        ESPALIER_TRY(message.text, text(item, "text"));
        messages.push_back(std::move(message));
    }
    return messages;
}

Result<void> readFileInto(const fs::path& path, std::vector<Exchange>& exchanges)
{
    ESPALIER_TRY(const std::string content, readFile(path, std::size_t{1} << 30));
    std::size_t number = 0;
    for (const std::string_view line : splitLines(content)) {
        ++number;
        if (trimmed(line).empty() || line.starts_with('#')) {
            continue;
        }
        const std::string name = fmt::format("{}, line {}", path.string(), number);
        ESPALIER_TRY(const Json json, parseJson(line, name));
        ESPALIER_TRY(Exchange exchange, exchangeFrom(json, name, path.parent_path()));
        exchanges.push_back(std::move(exchange));
    }
    return {};
}

} // namespace

std::string exchangeKey(const ChatRequest& request)
{
    Json list = Json::array();
    for (const Message& message : request.messages) {
        list.push_back({message.role, message.text});
    }
    return sha256Of({"exchange", request.purpose, list.dump(-1, ' ', false, Json::error_handler_t::replace)});
}

Json toJson(const Exchange& exchange)
{
    Json json = {{"purpose", exchange.purpose}, {"subject", exchange.subject}, {"ordinal", exchange.ordinal}};
    if (!exchange.key.empty()) {
        json["key"] = exchange.key;
    }
    if (!exchange.origin.empty()) {
        json["origin"] = exchange.origin;
    }
    for (const Message& message : exchange.messages) {
        json["messages"].push_back({{"role", message.role}, {"text", message.text}});
    }
    if (const auto* answer = std::get_if<ChatAnswer>(&exchange.outcome)) {
        json["answer"] = answerJson(*answer);
    } else {
        json["failure"] = failureJson(std::get<ChatFailure>(exchange.outcome));
    }
    return json;
}

Result<Exchange> exchangeFrom(const Json& json, const std::string& name, const fs::path& folder)
{
    const JsonReader reader(json, name);
    ESPALIER_CHECK(
        reader.onlyFields({"key", "purpose", "subject", "ordinal", "origin", "messages", "answer", "failure", "note"}));
    Exchange exchange;
    ESPALIER_TRY(exchange.key, text(reader, "key"));
    ESPALIER_TRY(exchange.purpose, text(reader, "purpose"));
    ESPALIER_TRY(exchange.subject, text(reader, "subject"));
    ESPALIER_TRY(exchange.origin, text(reader, "origin"));
    if (reader.has("ordinal")) {
        ESPALIER_TRY(const JsonReader ordinal, reader.at("ordinal"));
        ESPALIER_TRY(const std::int64_t value, ordinal.integer());
        exchange.ordinal = static_cast<int>(std::clamp<std::int64_t>(value, 0, 1'000'000));
    }
    if (reader.has("messages")) {
        ESPALIER_TRY(const JsonReader messages, reader.at("messages"));
        ESPALIER_TRY(exchange.messages, messagesFrom(messages));
    }
    if (exchange.key.empty() && exchange.subject.empty()) {
        return reader.complain("a key, or a purpose and a subject");
    }
    if (reader.has("failure")) {
        ESPALIER_TRY(const JsonReader failure, reader.at("failure"));
        ESPALIER_TRY(exchange.outcome, failureFrom(failure));
        return exchange;
    }
    ESPALIER_TRY(const JsonReader answer, reader.at("answer"));
    ESPALIER_TRY(exchange.outcome, answerFrom(answer, folder));
    return exchange;
}

Result<std::vector<Exchange>> readExchanges(const fs::path& fileOrFolder)
{
    std::vector<Exchange> exchanges;
    std::error_code error;
    if (!fs::is_directory(fileOrFolder, error)) {
        ESPALIER_CHECK(readFileInto(fileOrFolder, exchanges));
        return exchanges;
    }
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(fileOrFolder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".jsonl") {
            files.push_back(entry->path());
        }
    }
    if (error) {
        return fail(ErrorCode::Io, fmt::format("cannot list {}: {}", fileOrFolder.string(), error.message()));
    }
    if (files.empty()) {
        return fail(ErrorCode::NotFound,
                    fmt::format("{} holds no recorded exchanges (*.jsonl)", fileOrFolder.string()));
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
        ESPALIER_CHECK(readFileInto(file, exchanges));
    }
    return exchanges;
}

} // namespace espalier::llm
