// SPDX-License-Identifier: Apache-2.0
#include "core/propose/tuning_space.h"

#include "core/base/hash.h"
#include "core/base/json.h"

#include <algorithm>

namespace espalier {
namespace {

std::size_t indexIn(const Tunable& tunable, std::int64_t value)
{
    return static_cast<std::size_t>(std::find(tunable.values.begin(), tunable.values.end(), value) -
                                    tunable.values.begin());
}

} // namespace

TuningRandom::TuningRandom(std::uint64_t seed, std::int64_t idea, int ordinal)
{
    const std::string digest = sha256Of({"tuner", std::to_string(seed), std::to_string(idea), std::to_string(ordinal)});
    for (int i = 0; i < 16; ++i) {
        const char c = digest[static_cast<std::size_t>(i)];
        m_state = m_state * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
}

std::size_t TuningRandom::below(std::size_t bound)
{
    m_state += 0x9e3779b97f4a7c15ull; // splitmix64
    std::uint64_t z = m_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<std::size_t>((z ^ (z >> 31)) % bound);
}

TuningSpace::TuningSpace(const SourceMarks& marks) : m_tunables(marks.tunables), m_conditions(marks.conditions)
{
    for (Tunable& tunable : m_tunables) {
        tunable.values.push_back(tunable.current);
        std::sort(tunable.values.begin(), tunable.values.end());
        tunable.values.erase(std::unique(tunable.values.begin(), tunable.values.end()), tunable.values.end());
        m_start.push_back(indexIn(tunable, tunable.current));
        m_size = std::min<std::size_t>(m_size * tunable.values.size(), 1'000'000);
    }
    if (m_tunables.empty() || !listed()) {
        return;
    }
    TuningPoint point(m_tunables.size(), 0);
    for (std::size_t i = 0; i < m_size; ++i) {
        if (allowed(point)) {
            m_points.push_back(point);
        }
        for (std::size_t d = 0; d < point.size() && ++point[d] == m_tunables[d].values.size(); ++d) {
            point[d] = 0;
        }
    }
}

bool TuningSpace::allowed(const TuningPoint& point) const
{
    if (m_conditions.empty()) {
        return true;
    }
    const TunableValues named = valuesAt(point);
    return std::all_of(m_conditions.begin(), m_conditions.end(),
                       [&named](const TuneCondition& condition) { return condition.holds(named); });
}

std::size_t TuningSpace::choices() const
{
    if (!listed()) {
        return m_size - 1;
    }
    return m_points.size() - (std::find(m_points.begin(), m_points.end(), m_start) != m_points.end() ? 1 : 0);
}

TunableValues TuningSpace::valuesAt(const TuningPoint& point) const
{
    TunableValues named;
    for (std::size_t i = 0; i < point.size(); ++i) {
        named[m_tunables[i].name] = m_tunables[i].values[point[i]];
    }
    return named;
}

std::optional<TuningPoint> TuningSpace::pointOf(const std::string& payload) const
{
    const auto json = parseJson(payload, "payload");
    if (!json || !json->is_object() || !json->contains("values") || !(*json)["values"].is_object()) {
        return std::nullopt;
    }
    TuningPoint point;
    for (const Tunable& tunable : m_tunables) {
        const auto found = (*json)["values"].find(tunable.name);
        if (found == (*json)["values"].end() || !found->is_number_integer()) {
            return std::nullopt;
        }
        const std::size_t index = indexIn(tunable, found->get<std::int64_t>());
        if (index == tunable.values.size()) {
            return std::nullopt;
        }
        point.push_back(index);
    }
    return point;
}

std::vector<TuningPoint> TuningSpace::neighboursOf(const TuningPoint& point) const
{
    std::vector<TuningPoint> near;
    for (std::size_t i = 0; i < point.size(); ++i) {
        for (const int step : {-1, 1}) {
            if ((step < 0 && point[i] == 0) || (step > 0 && point[i] + 1 == m_tunables[i].values.size())) {
                continue;
            }
            near.push_back(point);
            near.back()[i] += static_cast<std::size_t>(step);
            if (!allowed(near.back())) {
                near.pop_back();
            }
        }
    }
    return near;
}

std::optional<TuningPoint> TuningSpace::anyPoint(TuningRandom& random) const
{
    if (listed()) {
        return m_points.empty() ? std::nullopt : std::optional(m_points[random.below(m_points.size())]);
    }
    for (int attempt = 0; attempt < 1000; ++attempt) {
        TuningPoint point;
        for (const Tunable& tunable : m_tunables) {
            point.push_back(random.below(tunable.values.size()));
        }
        if (allowed(point)) {
            return point;
        }
    }
    return std::nullopt;
}

} // namespace espalier
