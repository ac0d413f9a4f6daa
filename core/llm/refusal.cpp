// SPDX-License-Identifier: Apache-2.0
#include "core/llm/refusal.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <initializer_list>

namespace espalier::llm {

namespace {

std::string loweredText(std::string_view text)
{
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte; });
    return lower;
}

bool speaksOf(std::string_view text, std::initializer_list<std::string_view> words)
{
    return std::any_of(words.begin(), words.end(),
                       [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Message, type, code and quota in lower case: what the words are looked for in.
std::string wordsOf(const Refusal& refusal)
{
    const ProviderError& error = refusal.error;
    return loweredText(error.message + " " + error.type + " " + error.code + " " + error.quota);
}

bool isQuota(const Refusal& refusal)
{
    if (refusal.status == 402) {
        return true;
    }
    const std::string words = wordsOf(refusal);
    if (!refusal.error.quota.empty() || words.find("resource_exhausted") != std::string::npos) {
        // Google calls every rate limit "your current quota, please check your plan and billing": the name of the quota
        // and whether it names a time tell them apart.
        return words.find("perday") != std::string::npos || !refusal.retryAfterSeconds;
    }
    return speaksOf(words, {"insufficient_quota", "insufficient quota", "exceeded your current quota", "billing",
                            "credit balance", "insufficient balance", "insufficient_balance", "insufficient credit",
                            "payment required", "out of credits", "spending limit", "not enough credits",
                            "requires more credits"});
}

struct Number {
    std::int64_t value = 0;
    std::size_t begin = 0, end = 0;
};

/// Whole numbers that stand alone: not within a model's name, a version or a decimal. "16,384" is one number.
std::vector<Number> numbersIn(std::string_view text)
{
    const auto joins = [](char byte) {
        return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_' ||
               byte == '/';
    };
    const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    std::vector<Number> numbers;
    for (std::size_t at = 0; at < text.size();) {
        if (!digit(at)) {
            ++at;
            continue;
        }
        Number number{0, at, at};
        bool whole = at == 0 || (!joins(text[at - 1]) && text[at - 1] != '.');
        for (;
             digit(at) || (text.size() > at + 3 && text[at] == ',' && digit(at + 1) && digit(at + 2) && digit(at + 3));
             ++at) {
            if (text[at] != ',' && number.value < INT64_MAX / 100) {
                number.value = number.value * 10 + (text[at] - '0');
            }
        }
        number.end = at;
        whole =
            whole && (at == text.size() || !joins(text[at])) && !(at < text.size() && text[at] == '.' && digit(at + 1));
        if (whole) {
            numbers.push_back(number);
        }
    }
    return numbers;
}

/// The first number behind one of the words, at most `within` bytes away.
std::int64_t numberBehind(std::string_view text, std::initializer_list<std::string_view> words, std::size_t within = 24)
{
    const auto numbers = numbersIn(text);
    for (const std::string_view word : words) {
        const auto at = text.find(word);
        for (const Number& number : numbers) {
            if (at != std::string_view::npos && number.begin >= at + word.size()) {
                if (number.begin - at - word.size() <= within) {
                    return number.value;
                }
                break;
            }
        }
    }
    return 0;
}

/// The last number before one of the words.
std::int64_t numberBefore(std::string_view text, std::initializer_list<std::string_view> words, std::size_t within = 4)
{
    const auto numbers = numbersIn(text);
    for (const std::string_view word : words) {
        const auto at = text.find(word);
        for (auto number = numbers.rbegin(); at != std::string_view::npos && number != numbers.rend(); ++number) {
            if (number->end <= at && at - number->end <= within) {
                return number->value;
            }
        }
    }
    return 0;
}

/// "190000 + 20000 > 200000" (Anthropic), "20000 > 8192 - 500" (vLLM), "205000 tokens > 200000 maximum"
void readComparison(std::string_view text, OverflowFacts& facts)
{
    const auto numbers = numbersIn(text);
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
        if (text.substr(numbers[i].end, numbers[i + 1].begin - numbers[i].end).find('>') == std::string_view::npos) {
            continue;
        }
        facts.contextTokens = numbers[i + 1].value;
        const bool minus = i + 2 < numbers.size() &&
                           trimmed(text.substr(numbers[i + 1].end, numbers[i + 2].begin - numbers[i + 1].end)) == "-";
        const bool plus =
            i > 0 && trimmed(text.substr(numbers[i - 1].end, numbers[i].begin - numbers[i - 1].end)) == "+";
        facts.promptTokens = minus ? numbers[i + 2].value : plus ? numbers[i - 1].value : numbers[i].value;
        return;
    }
}

/// The largest allowed budget that a refusal of `sent` tokens names: the largest number below it, one less where the
/// bound is exclusive. 0: it names none.
std::int64_t budgetNamed(std::string_view message, std::int64_t sent)
{
    std::int64_t best = 0;
    for (const Number& number : numbersIn(message)) {
        const bool exclusive = trimmed(message.substr(number.end, 14)).starts_with("(exclusive)");
        const std::int64_t bound = exclusive ? number.value - 1 : number.value;
        if (bound < sent && bound > best) {
            best = bound;
        }
    }
    return best;
}

bool namesTokenField(std::string_view words)
{
    return speaksOf(words, {"max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "max tokens",
                            "maximum allowed number of output tokens", "completion tokens", "output tokens",
                            "max_new_tokens"});
}

bool saysUnsupported(std::string_view words)
{
    return speaksOf(words,
                    {"unsupported", "not supported", "not support", "unrecognized", "unknown", "extra inputs",
                     "extra_forbidden", "unexpected", "not permitted", "not allowed", "cannot be used", "deprecated",
                     "invalid parameter", "no longer", "must be verified", "not available", "not enabled"});
}

/// The words of the provider behind an adjustment's sentence.
std::string because(std::string_view change, const Refusal& refusal)
{
    return fmt::format("{}: {}", change, printable(refusal.error.message, 200));
}

std::optional<std::string> adjustBudget(const Refusal& refusal, const std::string& words, const Sent& sent,
                                        ModelLimits& limits, std::int64_t& outputTokens)
{
    using Field = ModelLimits::TokenField;
    if (!namesTokenField(words) && !speaksOf(loweredText(refusal.error.param), {"max_"})) {
        return std::nullopt;
    }
    const bool names = speaksOf(words, {"max_completion_tokens"}) && !sent.newerTokenField;
    if (saysUnsupported(words) && limits.tokenField != Field::None) {
        if (limits.tokenField != Field::Usual && !names) {
            limits.tokenField = Field::None;
            return because("the output budget is left out", refusal);
        }
        limits.tokenField = sent.newerTokenField ? Field::MaxTokens : Field::MaxCompletionTokens;
        return because(sent.newerTokenField ? "max_completion_tokens is sent as max_tokens"
                                            : "max_tokens is sent as max_completion_tokens",
                       refusal);
    }
    const std::int64_t allowed = budgetNamed(refusal.error.message, sent.outputTokens);
    if (allowed < 16) {
        return std::nullopt;
    }
    limits.mostOutput = allowed;
    outputTokens = std::min(outputTokens, allowed);
    return because(fmt::format("max_tokens {} clamped to {}", sent.outputTokens, allowed), refusal);
}

std::optional<std::string> adjustFields(const Refusal& refusal, const std::string& words, const Sent& sent,
                                        ModelLimits& limits)
{
    const std::string param = loweredText(refusal.error.param);
    const auto about = [&](std::initializer_list<std::string_view> names) {
        return speaksOf(words, names) || speaksOf(param, names);
    };
    if (sent.streamOptions && limits.streamOptions && about({"stream_options", "include_usage"})) {
        limits.streamOptions = false;
        return because("stream_options is left out, so usage may be unknown", refusal);
    }
    if (sent.schema && limits.schema == 0 &&
        about({"response_format", "json_schema", "responseschema", "response_schema", "output_config.format",
               "output_format", "text.format", "structured output", "schema", "response_mime_type", "guided",
               "grammar"})) {
        limits.schema = 1;
        return because("structured output is refused, the schema is sent in words", refusal);
    }
    if (sent.effort && limits.effort < 2 &&
        about({"reasoning_effort", "reasoning.effort", "thinking", "effort", "output_config", "thinkingconfig",
               "budget_tokens", "reasoning"})) {
        ++limits.effort;
        return because(limits.effort == 1 ? "reasoning is asked for in the older way"
                                          : "the reasoning effort is left out",
                       refusal);
    }
    if (sent.temperature && limits.temperature && about({"temperature"})) {
        limits.temperature = false;
        return because("temperature is left out", refusal);
    }
    if (sent.system && limits.systemRole && about({"system"}) && about({"role", "not supported", "instruction"})) {
        limits.systemRole = false;
        return because("the system message is sent as part of the first user message", refusal);
    }
    if (sent.stream && limits.stream &&
        (param == "stream" || (speaksOf(words, {"stream"}) && saysUnsupported(words)))) {
        limits.stream = false;
        return because("the answer is not streamed", refusal);
    }
    return std::nullopt;
}

std::optional<std::string> adjustToContext(const OverflowFacts& facts, const Refusal& refusal, const Sent& sent,
                                           ModelLimits& limits, std::int64_t& outputTokens)
{
    if (facts.contextTokens > 0) {
        limits.context = facts.contextTokens;
    }
    const std::int64_t left = facts.contextTokens - facts.promptTokens;
    if (facts.promptTokens <= 0 || left < 1024 || left >= sent.outputTokens) {
        return std::nullopt; // the prompt itself is too long
    }
    outputTokens = left;
    return because(fmt::format("max_tokens {} clamped to the {} that the context of {} leaves", sent.outputTokens, left,
                               facts.contextTokens),
                   refusal);
}

/// "Sun, 06 Nov 1994 08:49:37 GMT" as seconds since 1970. Not strptime, which reads names in the user's language.
std::optional<std::int64_t> httpDate(std::string_view text)
{
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    std::tm date = {};
    char month[4] = {};
    const std::string line(text);
    if (std::sscanf(line.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d", &date.tm_mday, month, &date.tm_year, &date.tm_hour,
                    &date.tm_min, &date.tm_sec) != 6) {
        return std::nullopt;
    }
    const auto at = months.find(month);
    if (at == std::string_view::npos || at % 3 != 0) {
        return std::nullopt;
    }
    date.tm_mon = static_cast<int>(at / 3);
    date.tm_year -= 1900;
    return ::timegm(&date);
}

} // namespace

std::optional<OverflowFacts> overflowOf(const Refusal& refusal)
{
    const std::string words = wordsOf(refusal);
    if (!speaksOf(words,
                  {"context_length_exceeded", "context length", "context window", "context size", "context limit",
                   "maximum context", "exceed_context_size", "prompt is too long", "input token count",
                   "input is too long", "too many input tokens", "reduce the length of the",
                   "exceeds the maximum number of tokens", "prompt too long", "model_max_prompt_tokens_exceeded"})) {
        return std::nullopt;
    }
    OverflowFacts facts{refusal.error.contextTokens, refusal.error.promptTokens};
    if (facts.contextTokens == 0) {
        readComparison(words, facts);
    }
    if (facts.contextTokens == 0) {
        facts.contextTokens =
            numberBehind(words, {"context length is", "context length of", "context window of", "context window is",
                                 "context size is", "context size (", "context limit of", "limit of",
                                 "number of tokens allowed", "maximum of", "maximum is", "limit is"});
        facts.promptTokens = numberBefore(
            words, {"in the messages", "input tokens", "tokens from the input", "in the prompt", "prompt tokens"}, 12);
        if (facts.promptTokens == 0) {
            facts.promptTokens = numberBehind(words, {"token count (", "resulted in"});
        }
    }
    return facts;
}

std::optional<std::string> adjust(const Refusal& refusal, const Sent& sent, ModelLimits& limits,
                                  std::int64_t& outputTokens)
{
    const bool inStream = refusal.status < 400; // some servers answer 200 and put the refusal into the stream
    if (!inStream && refusal.status != 400 && refusal.status != 404 && refusal.status != 413 && refusal.status != 422 &&
        refusal.status != 501) {
        return std::nullopt;
    }
    if (const auto facts = overflowOf(refusal)) {
        return adjustToContext(*facts, refusal, sent, limits, outputTokens);
    }
    if (refusal.status == 404 && !saysUnsupported(wordsOf(refusal))) {
        return std::nullopt;
    }
    const std::string words = wordsOf(refusal);
    if (auto changed = adjustBudget(refusal, words, sent, limits, outputTokens)) {
        return changed;
    }
    return adjustFields(refusal, words, sent, limits);
}

ChatFailure::Kind kindOf(const Refusal& refusal)
{
    if (isQuota(refusal)) {
        return ChatFailure::Kind::Quota;
    }
    if (overflowOf(refusal)) {
        return ChatFailure::Kind::Overflow;
    }
    if (worthRetrying(refusal)) {
        const bool rate =
            refusal.status == 429 || speaksOf(wordsOf(refusal), {"rate_limit", "rate limit", "too many requests"});
        return rate ? ChatFailure::Kind::RateLimited : ChatFailure::Kind::Server;
    }
    return ChatFailure::Kind::Rejected;
}

bool worthRetrying(const Refusal& refusal)
{
    if (isQuota(refusal)) {
        return false;
    }
    const bool unsupported = refusal.status == 501 || refusal.status == 505;
    const bool passing = refusal.status == 408 || refusal.status == 409 || refusal.status == 425 ||
                         refusal.status == 429 || (refusal.status >= 500 && !unsupported);
    return passing ||
           (refusal.status < 400 &&
            speaksOf(wordsOf(refusal), {"overloaded", "server_error", "api_error", "rate limit", "too many requests",
                                        "internal", "timeout", "unavailable", "rate_limit", "capacity"}));
}

bool isWrongPath(const Refusal& refusal)
{
    return (refusal.status == 404 || refusal.status == 405) && !speaksOf(wordsOf(refusal), {"model"});
}

std::optional<double> retryAfterOf(std::string_view header, std::int64_t now)
{
    header = trimmed(header);
    double seconds = 0;
    const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), seconds);
    if (error == std::errc() && end == header.data() + header.size()) {
        return seconds >= 0 ? std::optional(seconds) : std::nullopt;
    }
    const auto date = httpDate(header);
    return date ? std::optional(std::max(0.0, static_cast<double>(*date - now))) : std::nullopt;
}

std::optional<double> retryAfterInWords(std::string_view message)
{
    const std::string text = loweredText(message);
    auto at = text.find("again in ");
    at = at == std::string::npos ? text.find("retry in ") : at;
    if (at == std::string::npos) {
        return std::nullopt;
    }
    std::string_view rest = std::string_view(text).substr(at + 9);
    double total = 0;
    bool any = false;
    for (;;) { // "1h2m3.5s", "20ms", "30 seconds"
        double value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc() || value < 0) {
            return any ? std::optional(total) : std::nullopt;
        }
        rest = rest.substr(static_cast<std::size_t>(end - rest.data()));
        rest.remove_prefix(rest.starts_with(' ') ? 1 : 0);
        const double unit = rest.starts_with("ms") || rest.starts_with("milli") ? 0.001
                            : rest.starts_with('s')                             ? 1
                            : rest.starts_with('m')                             ? 60
                            : rest.starts_with('h')                             ? 3600
                            : rest.starts_with('d')                             ? 86400
                                                                                : 0;
        if (unit == 0) {
            return any ? std::optional(total) : std::nullopt;
        }
        total += value * unit;
        any = true;
        rest = rest.substr(std::min(rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), rest.size()));
    }
}

} // namespace espalier::llm
