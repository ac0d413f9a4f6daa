// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/llm/http_client.h"

#include <algorithm>
#include <chrono>

namespace espalier::llm {

using FlightClock = std::chrono::steady_clock;

inline std::chrono::nanoseconds flightSpan(double seconds)
{
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e8) * 1e9));
}

inline double secondsSince(LoopTime time)
{
    return std::chrono::duration<double>(FlightClock::now() - time).count();
}

/// One request on its way, over all its attempts.
struct HttpClient::Flight {
    enum class State { Held, Released, Sending, Waiting };
    RequestId id{0};
    ChatRequest request;
    State state = State::Held;
    std::string body;   ///< as it is sent
    std::string url;    ///< the last one tried
    ModelLimits limits; ///< what the body was made with
    std::size_t urlChoice = 0;
    std::vector<std::string> urlsTried;
    std::int64_t budget = 0; ///< tokens asked for, before the model's limit
    bool budgetRaised = false, tooLarge = false;
    int attempts = 0, retries = 0, connects = 0, truncations = 0, adjusted = 0;
    std::vector<std::string> adjustments;
    Usage billed;        ///< all attempts so far
    bool counted = true; ///< the present attempt's tokens are in it
    std::optional<AnswerReader> reader;
    std::string errorBody;
    std::size_t told = 0; ///< bytes of the text that were told as deltas
    bool news = false;    ///< there is text that was not told
    LoopTime begun{}, sent{}, lastByte{};
    std::optional<LoopTime> firstToken;
    std::uint64_t transfer = 0, timer = 0;
    int status = 0;
};

} // namespace espalier::llm
