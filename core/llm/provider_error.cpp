// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/llm/dialect.h"
#include "core/llm/json_pick.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace espalier::llm {

namespace {

constexpr std::size_t longestWords = 600;

/// "34s", "1.5s"
std::optional<double> secondsOf(std::string_view text)
{
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool whole = error == std::errc() && (end == text.data() + text.size() || *end == 's');
    return whole && seconds >= 0 ? std::optional(seconds) : std::nullopt;
}

/// Google's RetryInfo and QuotaFailure.
void readDetails(const Json& details, ProviderError& into)
{
    if (!details.is_array()) {
        return;
    }
    for (const Json& detail : details) {
        if (const auto delay = pick::text(detail, "retryDelay"); !delay.empty()) {
            into.retryAfterSeconds = secondsOf(delay);
        }
        const Json& violation = pick::first(pick::member(detail, "violations"));
        if (const auto quota = pick::text(violation, "quotaId"); !quota.empty()) {
            into.quota = quota;
        }
    }
}

/// FastAPI's list of what is wrong with which field.
std::string validationText(const Json& list)
{
    std::string text;
    for (const Json& entry : list) {
        std::string place;
        for (const Json& part : pick::member(entry, "loc")) {
            place += pick::text(part).empty() || pick::text(part) == "body" ? "" : fmt::format("{} ", pick::text(part));
        }
        text += fmt::format("{}{}{}", text.empty() ? "" : "; ", place, pick::text(entry, "msg"));
    }
    return text;
}

/// What a proxy's error page says, without its markup.
std::string withoutTags(std::string_view page)
{
    std::string text;
    bool inTag = false;
    for (const char byte : page.substr(0, 4096)) {
        if (byte == '<' || byte == '>') {
            inTag = byte == '<';
            text += byte == '>' ? " " : "";
        } else if (!inTag) {
            text += byte == '\n' || byte == '\r' || byte == '\t' ? ' ' : byte;
        }
    }
    const auto both = [](char a, char b) { return a == ' ' && b == ' '; };
    text.erase(std::unique(text.begin(), text.end(), both), text.end());
    return std::string(trimmed(text));
}

} // namespace

ProviderError providerErrorOf(const Json& error)
{
    ProviderError read;
    if (error.is_array()) {
        return error.empty() ? read : providerErrorOf(error.front()); // Gemini without alt=sse
    }
    if (error.is_string()) {
        read.message = printable(error.get<std::string>(), longestWords);
        return read;
    }
    if (const Json& inner = pick::member(error, "error"); inner.is_object() || inner.is_string()) {
        ProviderError nested = providerErrorOf(inner);
        if (inner.is_object() || pick::text(error, "message").empty()) {
            return nested;
        }
    }
    for (const char* field : {"message", "detail", "msg", "error_description", "title"}) {
        if (read.message.empty()) {
            read.message = printable(pick::text(error, field), longestWords);
        }
    }
    if (const Json& detail = pick::member(error, "detail"); detail.is_array()) {
        read.message = printable(validationText(detail), longestWords);
    }
    read.type = pick::text(error, "type").empty() ? pick::text(error, "status") : pick::text(error, "type");
    read.code = pick::text(error, "code");
    read.param = pick::text(error, "param");
    std::int64_t status = 0;
    pick::count(error, "code", status);
    pick::count(error, "status", status);
    read.status = status >= 400 && status < 600 ? static_cast<int>(status) : 0;
    pick::count(error, "n_prompt_tokens", read.promptTokens); // llama.cpp
    pick::count(error, "n_ctx", read.contextTokens);
    readDetails(pick::member(error, "details"), read);
    // OpenRouter wraps the words of the provider behind it.
    if (const auto raw = pick::text(pick::member(error, "metadata"), "raw"); !raw.empty()) {
        read.message = printable(fmt::format("{}: {}", read.message, raw), longestWords);
    }
    return read;
}

ProviderError providerErrorOf(std::string_view body)
{
    const Json json = Json::parse(body, nullptr, false);
    if (json.is_object() || json.is_array()) {
        ProviderError read = providerErrorOf(json);
        if (read.message.empty()) {
            read.message = printable(trimmed(body), longestWords);
        }
        return read;
    }
    ProviderError read;
    read.message = printable(withoutTags(body), longestWords);
    return read;
}

} // namespace espalier::llm
