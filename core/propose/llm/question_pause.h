// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/exchange.h"

#include <chrono>
#include <optional>
#include <string>

namespace espalier {

/// Which questions a pause waits for. Nobody waits for a person or a program: what they were asked stays open, and is
/// asked again as it was. One at a provider is waited for only while its answer is coming, and not for long; else it is
/// taken back, and may have been billed. Thread: one. A value.
class QuestionPause
{
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds patience{60'000};

    explicit QuestionPause(std::chrono::milliseconds readOn = patience) : m_readOn(readOn) {}

    /// `readOn`: answers that are coming may still end; the time for that begins with the first call of a pause, and a
    /// later call can only take it away.
    void begin(bool readOn, Clock::time_point now);
    void end() { m_until.reset(); }
    bool on() const { return m_until.has_value(); }
    /// `answering`: some of its answer has come.
    bool waitsFor(const Exchange& exchange, bool answering, Clock::time_point now) const;
    std::chrono::milliseconds left(Clock::time_point now) const; ///< of the patience; not below 0

    /// Puts down that an exchange ended without its answer, at what had come of it. True: it ended, lost. False: nobody
    /// bills it, so that it stays open as it is.
    static bool takeBack(Exchange& exchange, std::string partialText, std::string_view why);

private:
    std::chrono::milliseconds m_readOn;
    std::optional<Clock::time_point> m_until; ///< set: a pause is on
};

} // namespace espalier
