// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// How much of a search's time its device had something to judge: open from the first hand-over of a run to the run's
/// end, waiting for compilers, models and the engine itself included; busy while the judge has a candidate. Of several
/// devices the mean. Totals of a session, in seconds. Thread: one.
class DeviceUse
{
public:
    /// `kept`: what text() said of earlier runs; anything else counts as nothing.
    DeviceUse(std::function<double()> seconds, std::string_view kept);

    /// What holds from now on: `judging` of `devices` (at least one) have a candidate. To be called whenever it may
    /// have changed.
    void observe(bool running, int judging, int devices = 1);
    double busy() const { return m_busy; }
    double open() const { return m_open; }
    std::optional<double> idleShare() const; ///< 0 to 1; nullopt: no device was ever asked
    std::string text() const;                ///< to be kept with the session

    static constexpr std::string_view key = "engine.device_use"; ///< of the session's value

private:
    std::function<double()> m_now;
    double m_busy = 0, m_open = 0;
    std::optional<double> m_since; ///< the last observation of an open stretch
    double m_judging = 0;          ///< share of the devices
};

} // namespace espalier
