// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace espalier {

/// Adds up the time in which a session runs, and the rate of this run. Thread: one.
class RunClock
{
public:
    RunClock(std::function<double()> seconds, double spentBefore) : m_now(std::move(seconds)), m_stored(spentBefore) {}

    void start();
    void stop();
    bool running() const { return m_since.has_value(); }
    double total() const; ///< of the session, in seconds
    double unsaved() const { return total() - m_stored; }
    void saved(double seconds) { m_stored += seconds; }
    void evaluated() { ++m_evaluated; }
    double rate() const; ///< evaluations per second since the first start(); 0: unknown
    double now() const { return m_now(); }

private:
    std::function<double()> m_now;
    double m_stored;
    double m_ended = 0; ///< of closed stretches of this object's life, in seconds
    double m_before = m_stored;
    std::optional<double> m_since;
    std::int64_t m_evaluated = 0;
};

} // namespace espalier
