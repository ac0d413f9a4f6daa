// SPDX-License-Identifier: Apache-2.0
#include "core/model/exchange.h"

#include <algorithm>

namespace espalier {

std::string_view nameOf(Exchange::State state)
{
    switch (state) {
    case Exchange::State::Sent:
        return "sent";
    case Exchange::State::Answered:
        return "answered";
    case Exchange::State::Failed:
        return "failed";
    case Exchange::State::Lost:
        return "lost";
    }
    return "";
}

std::optional<Exchange::State> exchangeStateNamed(std::string_view name)
{
    for (const auto state :
         {Exchange::State::Sent, Exchange::State::Answered, Exchange::State::Failed, Exchange::State::Lost}) {
        if (nameOf(state) == name) {
            return state;
        }
    }
    return std::nullopt;
}

bool isBilled(std::string_view provider)
{
    return std::find(freeProviders.begin(), freeProviders.end(), provider) == freeProviders.end();
}

void Spending::add(const Exchange& exchange)
{
    ++requests;
    if (exchange.state == Exchange::State::Lost) {
        ++lost;
        possibleUsd += exchange.estimatedUsd.value_or(0);
        possibleTokens += exchange.estimatedTokens;
        return;
    }
    input += std::max<std::int64_t>(0, exchange.tokens.input);
    output += std::max<std::int64_t>(0, exchange.tokens.output);
    cachedInput += std::max<std::int64_t>(0, exchange.tokens.cachedInput);
    reasoning += std::max<std::int64_t>(0, exchange.tokens.reasoning);
    usd += exchange.usd.value_or(0);
    if (!exchange.usd && exchange.state == Exchange::State::Answered) {
        ++unpriced;
    }
}

void Spending::add(const Spending& other)
{
    requests += other.requests;
    input += other.input;
    output += other.output;
    cachedInput += other.cachedInput;
    reasoning += other.reasoning;
    usd += other.usd;
    unpriced += other.unpriced;
    lost += other.lost;
    possibleUsd += other.possibleUsd;
    possibleTokens += other.possibleTokens;
}

} // namespace espalier
