// SPDX-License-Identifier: Apache-2.0
#include "app/ctl/exchange_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier::ctl {

namespace {

std::string usdText(const std::optional<double>& usd)
{
    return usd ? fmt::format("{:.4f} USD", *usd) : std::string("price unknown");
}

std::string partLine(const PromptPart& part)
{
    return fmt::format("  {} {}{}{}{}\n", part.sent ? "+" : "-", part.channel,
                       part.sent ? fmt::format(", about {} tokens", part.tokens) : "",
                       part.files.empty() ? "" : fmt::format(" ({})", fmt::join(part.files, ", ")),
                       part.note.empty() ? "" : ": " + part.note);
}

Json countJson(std::int64_t count)
{
    return count < 0 ? Json(nullptr) : Json(count);
}

std::string rule(std::string_view title)
{
    return fmt::format("--- {} ---\n", title);
}

std::string withLineEnd(std::string text)
{
    return text.empty() || text.ends_with('\n') ? std::move(text) : std::move(text) + "\n";
}

} // namespace

std::string exchangeText(const Exchange& exchange)
{
    std::string text =
        fmt::format("exchange {}: {} ({}), {} of {}, {}{}\n", exchange.id, exchange.purpose, exchange.subject,
                    exchange.model, exchange.provider, nameOf(exchange.state),
                    exchange.finish.empty() || exchange.finish == "complete" ? "" : ", " + exchange.finish);
    if (!exchange.reason.empty()) {
        text += fmt::format("reason:   {}\n", exchange.reason);
    }
    text +=
        fmt::format("sent to:  {} at {}\n", exchange.url.empty() ? exchange.provider : exchange.url, exchange.sentAt);
    for (const PromptPart& part : exchange.parts) {
        text += partLine(part);
    }
    const auto count = [](std::int64_t tokens) { return tokens < 0 ? std::string("?") : std::to_string(tokens); };
    text += fmt::format("cost:     {} tokens in ({} cached), {} out ({} reasoning), {}; {} request{} in {:.1f} s\n",
                        count(exchange.tokens.input), count(exchange.tokens.cachedInput), count(exchange.tokens.output),
                        count(exchange.tokens.reasoning), usdText(exchange.usd), exchange.attempts,
                        exchange.attempts == 1 ? "" : "s", exchange.seconds);
    if (exchange.state == Exchange::State::Lost) {
        text += fmt::format("possible: up to {} tokens{}\n", exchange.estimatedTokens,
                            exchange.estimatedUsd ? fmt::format(", {:.4f} USD", *exchange.estimatedUsd) : "");
    }
    for (const std::string& note : exchange.notes) {
        text += fmt::format("note:     {}\n", note);
    }
    text += fmt::format("template: {}\n", exchange.promptHash);
    if (!exchange.system.empty()) {
        text += rule("system") + withLineEnd(exchange.system);
    }
    text += rule("prompt") + withLineEnd(exchange.prompt);
    if (!exchange.reasoning.empty()) {
        text += rule("reasoning") + withLineEnd(exchange.reasoning);
    }
    return text + rule("answer") + withLineEnd(exchange.answer);
}

Json exchangeJson(const Exchange& exchange)
{
    Json parts = Json::array();
    for (const PromptPart& part : exchange.parts) {
        parts.push_back({{"channel", part.channel},
                         {"sent", part.sent},
                         {"tokens", part.tokens},
                         {"files", part.files},
                         {"note", part.note}});
    }
    return {{"id", exchange.id},
            {"node", exchange.node.value},
            {"purpose", exchange.purpose},
            {"subject", exchange.subject},
            {"provider", exchange.provider},
            {"model", exchange.model},
            {"profile", exchange.profile},
            {"url", exchange.url},
            {"state", nameOf(exchange.state)},
            {"finish", exchange.finish},
            {"reason", exchange.reason},
            {"prompt_hash", exchange.promptHash},
            {"system", exchange.system},
            {"prompt", exchange.prompt},
            {"request", exchange.request},
            {"parts", parts},
            {"answer", exchange.answer},
            {"reasoning", exchange.reasoning},
            {"notes", exchange.notes},
            {"tokens",
             {{"input", countJson(exchange.tokens.input)},
              {"output", countJson(exchange.tokens.output)},
              {"cached", countJson(exchange.tokens.cachedInput)},
              {"reasoning", countJson(exchange.tokens.reasoning)},
              {"estimated_input", exchange.estimatedInput}}},
            {"usd", exchange.usd ? Json(*exchange.usd) : Json(nullptr)},
            {"attempts", exchange.attempts},
            {"seconds", exchange.seconds},
            {"sent_at", exchange.sentAt},
            {"ended_at", exchange.endedAt}};
}

Json spendingJson(const Spending& spending)
{
    return {{"requests", spending.requests},
            {"input_tokens", spending.input},
            {"output_tokens", spending.output},
            {"cached_tokens", spending.cachedInput},
            {"reasoning_tokens", spending.reasoning},
            {"usd", spending.usd},
            {"unpriced_requests", spending.unpriced},
            {"lost_requests", spending.lost},
            {"possible_usd_of_lost", spending.possibleUsd}};
}

std::string spendingText(const Spending& spending)
{
    std::string text =
        fmt::format("{} tokens ({} in, {} of them cached; {} out, {} of them reasoning) in {} request{}, {:.4f} USD",
                    spending.tokens(), spending.input, spending.cachedInput, spending.output, spending.reasoning,
                    spending.requests, spending.requests == 1 ? "" : "s", spending.usd);
    if (spending.unpriced > 0) {
        text += fmt::format(" and {} request{} of unknown price", spending.unpriced, spending.unpriced == 1 ? "" : "s");
    }
    if (spending.lost > 0) {
        text += fmt::format("; {} answer{} lost, up to {:.4f} USD more", spending.lost, spending.lost == 1 ? "" : "s",
                            spending.possibleUsd);
    }
    return text;
}

} // namespace espalier::ctl
