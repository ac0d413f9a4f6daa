// SPDX-License-Identifier: Apache-2.0
#include "core/engine/device_change.h"

#include "core/base/json.h"
#include "core/base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr const char* changeKey = "device.change";
constexpr double alike = 0.01, near = 0.03;

double apart(double one, double other)
{
    return std::max(one, other) / std::min(one, other) - 1;
}

DeviceChange::Worth worthAt(double apart)
{
    return apart <= alike  ? DeviceChange::Worth::Same
           : apart <= near ? DeviceChange::Worth::Marked
                           : DeviceChange::Worth::Anew;
}

/// Half of the interval, as a share.
double noiseOf(const Interval& time)
{
    return (time.high - time.low) / 2 / time.value;
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
    if (!json.is_object() || !json.contains("pace") || !json["pace"].is_object()) {
        return change;
    }
    for (const auto& [device, pace] : json["pace"].items()) {
        change.m_pace[device] = numberOf(json["pace"], device.c_str());
    }
    change.m_here = numberOf(json, "here");
    change.m_awaited = json.value("awaited", false);
    if (json.contains("root_us")) {
        change.m_before = {numberOf(json, "root_us"), numberOf(json, "root_low_us"), numberOf(json, "root_high_us")};
    }
    change.m_sentence = json.value("sentence", std::string());
    return change;
}

Result<void> DeviceChange::write(Store& store) const
{
    Json json{{"pace", Json::object()}, {"here", m_here}, {"awaited", m_awaited}, {"sentence", m_sentence}};
    for (const auto& [device, pace] : m_pace) {
        json["pace"][device] = pace;
    }
    if (m_before) {
        json["root_us"] = m_before->value;
        json["root_low_us"] = m_before->low;
        json["root_high_us"] = m_before->high;
    }
    return store.setValue(changeKey, json.dump());
}

void DeviceChange::begin(std::string_view before, const std::optional<Interval>& root)
{
    if (m_awaited) {
        return; // on a third device before the second was looked at: the first figure counts
    }
    for (const std::string_view device : splitOn(before, ',')) {
        m_pace.try_emplace(std::string(device), m_here);
    }
    m_before = root;
    m_awaited = true;
}

void DeviceChange::measured(std::string_view now, const Interval& root, bool comparable)
{
    const bool known = comparable && m_before && m_before->value > 0 && root.value > 0;
    const double pace = known ? m_here * root.value / m_before->value : 1;
    const double drift = known ? apart(pace, m_here) : 0;
    if (!known) {
        m_pace.clear(); // of those before nothing can be said beside this one
    }
    for (const std::string_view device : splitOn(now, ',')) {
        m_pace[std::string(device)] = pace;
    }
    m_here = pace;
    Worth least = Worth::Same;
    for (const auto& [device, other] : m_pace) {
        least = std::max(least, worthAt(apart(other, pace)));
    }
    const std::string_view follows = "what leads is timed anew, other figures from before are marked.";
    if (!known) {
        m_sentence = fmt::format("The session went on on another device of the same kind and has another root as well, "
                                 "so that the two devices cannot be compared: {}",
                                 follows);
    } else if (least == Worth::Same) {
        m_sentence.clear();
    } else {
        const double noise = std::max(noiseOf(*m_before), noiseOf(root));
        const std::string facts = fmt::format(
            "The session went on on another device of the same kind, where the root takes {:.4g} us instead of "
            "{:.4g}{}",
            root.value, m_before->value,
            noise > std::max(drift, alike * 1.5) ? fmt::format(" (its noise is {:.1f} %)", noise * 100) : "");
        m_sentence =
            least == Worth::Marked
                ? fmt::format("{}: speed-ups stay as they were paired, absolute times from before are marked.", facts)
            : worthAt(drift) == Worth::Anew
                ? fmt::format("{}, more than 3 % off: {}", facts, follows)
                : fmt::format("{}; a device before that is more than 3 % off: {}", facts, follows);
    }
    m_before.reset();
    m_awaited = false;
}

DeviceChange::Worth DeviceChange::worth(const std::string& device) const
{
    const auto pace = m_pace.find(device);
    return m_pace.empty()                                             ? Worth::Same
           : pace == m_pace.end() || pace->second <= 0 || m_here <= 0 ? Worth::Anew
                                                                      : worthAt(apart(pace->second, m_here));
}

bool DeviceChange::isAnother(std::string_view before, std::string_view now)
{
    if (before.empty() || now.empty()) {
        return false;
    }
    const auto all = splitOn(now, ',');
    return std::any_of(all.begin(), all.end(), [&](std::string_view one) { return !names(before, one); });
}

bool DeviceChange::names(std::string_view devices, std::string_view one)
{
    const auto all = splitOn(devices, ',');
    return std::find(all.begin(), all.end(), one) != all.end();
}

Result<std::map<NodeId, DeviceChange::Worth>> DeviceChange::worthOfNodes(Store& store)
{
    std::map<NodeId, Worth> worths;
    ESPALIER_TRY(const DeviceChange change, read(store));
    if (change.m_pace.empty()) {
        return worths; // it was on one device only
    }
    ESPALIER_TRY(const auto devices, store.devicesOfNodes());
    for (const auto& [node, device] : devices) {
        worths[node] = names(store.info().deviceUuid, device) ? Worth::Same : change.worth(device);
    }
    return worths;
}

Result<void> DeviceChange::mark(Store& store, NodeBook& book)
{
    ESPALIER_TRY(const auto worths, worthOfNodes(store));
    for (const auto& [node, worth] : worths) {
        book.setTimedElsewhere(node, worth != Worth::Same);
    }
    return {};
}

Result<std::set<NodeId>> DeviceChange::toTimeAnew(Store& store)
{
    ESPALIER_TRY(const auto worths, worthOfNodes(store));
    std::set<NodeId> nodes;
    for (const auto& [node, worth] : worths) {
        if (worth == Worth::Anew) {
            nodes.insert(node);
        }
    }
    return nodes;
}

} // namespace espalier
