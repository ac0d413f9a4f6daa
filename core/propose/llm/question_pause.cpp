// SPDX-License-Identifier: Apache-2.0
#include "core/propose/llm/question_pause.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace espalier {

void QuestionPause::begin(bool readOn, Clock::time_point now)
{
    if (!m_until) {
        m_until = now + (readOn ? m_readOn : std::chrono::milliseconds(0));
    } else if (!readOn) {
        m_until = std::min(*m_until, now);
    }
}

bool QuestionPause::waitsFor(const Exchange& exchange, bool answering, Clock::time_point now) const
{
    return answering && isBilled(exchange.provider) && left(now).count() > 0;
}

std::chrono::milliseconds QuestionPause::left(Clock::time_point now) const
{
    const auto left = m_until ? std::chrono::ceil<std::chrono::milliseconds>(*m_until - now) : m_readOn;
    return std::max(left, std::chrono::milliseconds(0));
}

bool QuestionPause::takeBack(Exchange& exchange, std::string partialText, std::string_view why)
{
    if (!isBilled(exchange.provider)) {
        return false;
    }
    exchange.state = Exchange::State::Lost;
    exchange.reason =
        fmt::format("{} {}; the provider may have billed the request.", why,
                    partialText.empty() ? "before anything of the answer had come" : "before the answer had ended");
    exchange.answer = std::move(partialText);
    return true;
}

} // namespace espalier
