// SPDX-License-Identifier: Apache-2.0
#include "core/engine/device_use.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace espalier {

DeviceUse::DeviceUse(std::function<double()> seconds, std::string_view kept) : m_now(std::move(seconds))
{
    const std::string text(kept);
    char* end = nullptr;
    const double busy = std::strtod(text.c_str(), &end);
    const double open = std::strtod(end, nullptr);
    if (std::isfinite(busy) && std::isfinite(open) && busy >= 0 && open >= busy) {
        m_busy = busy;
        m_open = open;
    }
}

void DeviceUse::observe(bool running, int judging, int devices)
{
    const double now = m_now();
    if (m_since) {
        const double passed = std::max(0.0, now - *m_since);
        m_open += passed;
        m_busy += m_judging * passed;
    }
    const bool open = running && (m_since || judging > 0);
    m_since = open ? std::optional(now) : std::nullopt;
    m_judging = std::min(1.0, static_cast<double>(judging) / std::max(1, devices));
}

std::optional<double> DeviceUse::idleShare() const
{
    return m_open > 0 ? std::optional(1 - m_busy / m_open) : std::nullopt;
}

std::string DeviceUse::text() const
{
    return fmt::format("{:.3f} {:.3f}", m_busy, m_open);
}

} // namespace espalier
