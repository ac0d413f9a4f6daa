// SPDX-License-Identifier: Apache-2.0
#include "core/engine/device_change.h"

#include "core/base/json.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr const char* changeKey = "device.change";
constexpr double alike = 0.01, near = 0.03;
constexpr std::array<std::string_view, 5> stateNames = {"none", "awaited", "same", "marked", "anew"};

/// How far the time lies outside of the interval, as a share; 0: within.
double distance(const Interval& before, double now)
{
    return now > before.high ? now / before.high - 1 : now < before.low ? before.low / now - 1 : 0;
}

bool names(std::string_view devices, std::string_view one)
{
    const auto all = splitOn(devices, ',');
    return std::find(all.begin(), all.end(), one) != all.end();
}

double numberOf(const Json& json, const char* field)
{
    return json.contains(field) && json[field].is_number() ? json[field].get<double>() : 0;
}

} // namespace

Result<DeviceChange> DeviceChange::read(Store& store)
{
    DeviceChange change;
    ESPALIER_TRY(const auto text, store.value(changeKey));
    if (!text) {
        return change;
    }
    ESPALIER_TRY(const Json json, parseJson(*text, "the session's change of devices"));
    const std::string state = json.is_object() ? json.value("state", std::string()) : std::string();
    const auto known = std::find(stateNames.begin(), stateNames.end(), state);
    if (known != stateNames.end()) {
        change.m_state = static_cast<State>(known - stateNames.begin());
        change.m_before = {numberOf(json, "root_us"), numberOf(json, "root_low_us"), numberOf(json, "root_high_us")};
        change.m_sentence = json.value("sentence", std::string());
    }
    return change;
}

Result<void> DeviceChange::write(Store& store) const
{
    return store.setValue(changeKey, Json{{"state", stateNames[static_cast<std::size_t>(m_state)]},
                                          {"root_us", m_before.value},
                                          {"root_low_us", m_before.low},
                                          {"root_high_us", m_before.high},
                                          {"sentence", m_sentence}}
                                         .dump());
}

void DeviceChange::begin(const Interval& root)
{
    if (m_state != State::Awaited) { // on a third device before the second was looked at: the first figure counts
        m_before = root;
    }
    m_state = State::Awaited;
    m_sentence.clear();
}

void DeviceChange::measured(const Interval& root)
{
    const double apart = m_before.value > 0 && root.value > 0 ? distance(m_before, root.value) : 1;
    m_state = apart <= alike ? State::Same : apart <= near ? State::Marked : State::Anew;
    const std::string facts =
        fmt::format("The session went on on another device of the same kind, where the root takes {:.4g} us instead of "
                    "{:.4g}",
                    root.value, m_before.value);
    m_sentence =
        m_state == State::Same ? std::string()
        : m_state == State::Marked
            ? fmt::format("{}: speed-ups stay as they were paired, absolute times from before are marked.", facts)
            : fmt::format("{}, more than 3 % off: what leads is timed anew, other figures from before are "
                          "marked.",
                          facts);
}

bool DeviceChange::isAnother(std::string_view before, std::string_view now)
{
    if (before.empty() || now.empty()) {
        return false;
    }
    const auto all = splitOn(now, ',');
    return std::any_of(all.begin(), all.end(), [&](std::string_view one) { return !names(before, one); });
}

Result<void> DeviceChange::mark(Store& store, NodeBook& book)
{
    ESPALIER_TRY(const DeviceChange change, read(store));
    if (change.holds()) {
        return {};
    }
    ESPALIER_TRY(const auto devices, store.devicesOfNodes());
    for (const auto& [node, device] : devices) {
        if (!names(store.info().deviceUuid, device)) {
            book.setTimedElsewhere(node);
        }
    }
    return {};
}

} // namespace espalier
