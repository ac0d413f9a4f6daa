// SPDX-License-Identifier: Apache-2.0
#include "core/propose/tuner_proposer.h"

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/propose/tunables.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace espalier {
namespace {

/// Index of a value for each tunable.
using Point = std::vector<std::size_t>;

/// A small generator of our own: the standard distributions differ between libraries, and a session must not.
class Random
{
public:
    Random(std::uint64_t seed, std::int64_t idea, int ordinal)
    {
        const std::string digest =
            sha256Of({"tuner", std::to_string(seed), std::to_string(idea), std::to_string(ordinal)});
        for (int i = 0; i < 16; ++i) {
            const char c = digest[static_cast<std::size_t>(i)];
            m_state = m_state * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
        }
    }
    std::size_t below(std::size_t bound)
    {
        m_state += 0x9e3779b97f4a7c15ull; // splitmix64
        std::uint64_t z = m_state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return static_cast<std::size_t>((z ^ (z >> 31)) % bound);
    }

private:
    std::uint64_t m_state = 0;
};

/// The grid of one kernel's tunables, values ascending, the kernel's own included.
class Space
{
public:
    explicit Space(std::vector<Tunable> tunables) : m_tunables(std::move(tunables))
    {
        for (Tunable& tunable : m_tunables) {
            tunable.values.push_back(tunable.current);
            std::sort(tunable.values.begin(), tunable.values.end());
            tunable.values.erase(std::unique(tunable.values.begin(), tunable.values.end()), tunable.values.end());
            m_start.push_back(indexOf(tunable, tunable.current));
        }
    }

    const Point& start() const { return m_start; }
    /// Points of the grid, capped at a million.
    std::size_t size() const
    {
        std::size_t product = 1;
        for (const Tunable& tunable : m_tunables) {
            product = std::min<std::size_t>(product * tunable.values.size(), 1'000'000);
        }
        return product;
    }
    TunableValues valuesAt(const Point& point) const
    {
        TunableValues values;
        for (std::size_t i = 0; i < point.size(); ++i) {
            values[m_tunables[i].name] = m_tunables[i].values[point[i]];
        }
        return values;
    }
    /// The point that a candidate's payload names; nullopt when it is of another grid.
    std::optional<Point> pointOf(const std::string& payload) const
    {
        const auto json = parseJson(payload, "payload");
        if (!json || !json->is_object() || !json->contains("values") || !(*json)["values"].is_object()) {
            return std::nullopt;
        }
        Point point;
        for (const Tunable& tunable : m_tunables) {
            const auto found = (*json)["values"].find(tunable.name);
            if (found == (*json)["values"].end() || !found->is_number_integer()) {
                return std::nullopt;
            }
            const std::size_t index = indexOf(tunable, found->get<std::int64_t>());
            if (index == tunable.values.size()) {
                return std::nullopt;
            }
            point.push_back(index);
        }
        return point;
    }
    /// One step in one dimension.
    std::vector<Point> neighboursOf(const Point& point) const
    {
        std::vector<Point> near;
        for (std::size_t i = 0; i < point.size(); ++i) {
            for (const int step : {-1, 1}) {
                if ((step < 0 && point[i] == 0) || (step > 0 && point[i] + 1 == m_tunables[i].values.size())) {
                    continue;
                }
                near.push_back(point);
                near.back()[i] += static_cast<std::size_t>(step);
            }
        }
        return near;
    }
    Point randomPoint(Random& random) const
    {
        Point point;
        for (const Tunable& tunable : m_tunables) {
            point.push_back(random.below(tunable.values.size()));
        }
        return point;
    }
    /// The next point in counting order, around the end.
    void advance(Point& point) const
    {
        for (std::size_t i = 0; i < point.size(); ++i) {
            point[i] = (point[i] + 1) % m_tunables[i].values.size();
            if (point[i] != 0) {
                return;
            }
        }
    }

private:
    static std::size_t indexOf(const Tunable& tunable, std::int64_t value)
    {
        return static_cast<std::size_t>(std::find(tunable.values.begin(), tunable.values.end(), value) -
                                        tunable.values.begin());
    }

    std::vector<Tunable> m_tunables;
    Point m_start;
};

struct History {
    std::set<Point> tried;
    Point best;
};

History historyOf(const Space& space, const ImplementContext& context)
{
    History history{{space.start()}, space.start()};
    double bestScore = context.parentScore.value_or(0);
    for (const EarlierTry& earlier : context.earlier) {
        const auto point = space.pointOf(earlier.payload);
        if (!point) {
            continue;
        }
        history.tried.insert(*point);
        if (earlier.outcome == Outcome::Passed && earlier.score && *earlier.score > bestScore) {
            bestScore = *earlier.score;
            history.best = *point;
        }
    }
    return history;
}

/// The first quarter at random (at least two), then two steps near the best for each random one.
std::optional<Point> nextPoint(const Space& space, const History& history, Random& random, int ordinal, int planned)
{
    if (history.tried.size() >= space.size()) {
        return std::nullopt;
    }
    const bool explore = ordinal < std::max(2, planned / 4) || ordinal % 3 == 2;
    if (!explore) {
        std::vector<Point> near = space.neighboursOf(history.best);
        std::erase_if(near, [&history](const Point& point) { return history.tried.contains(point); });
        if (!near.empty()) {
            return near[random.below(near.size())];
        }
    }
    Point point = space.randomPoint(random);
    while (history.tried.contains(point)) { // ends: some point is untried, and advance() visits all of them
        space.advance(point);
    }
    return point;
}

std::string namesOf(const std::vector<Tunable>& tunables)
{
    std::string names;
    for (const Tunable& tunable : tunables) {
        names += (names.empty() ? "" : ", ") + tunable.name;
    }
    return names;
}

int plannedTries(const Space& space)
{
    return static_cast<int>(std::min<std::size_t>(space.size() - 1, TunerProposer::mostTries));
}

} // namespace

std::vector<ProposedIdea> TunerProposer::offer(const IdeaContext& context) const
{
    // A tuned kernel has the grid of the kernel it was tuned from, which that idea already searches.
    if (context.parentProposer == "tuner") {
        return {};
    }
    const std::vector<Tunable> tunables = readMarks(context.parentSource).tunables;
    if (tunables.empty()) {
        return {};
    }
    ProposedIdea idea;
    idea.key = "tune";
    idea.title = fmt::format("Tune {}", namesOf(tunables));
    idea.text = fmt::format("Try other values of {} that the kernel declares as tunable; nothing else changes.",
                            namesOf(tunables));
    idea.payload = "{}";
    idea.implementations = plannedTries(Space(tunables));
    return {idea};
}

proposer::Implementation TunerProposer::write(const ImplementContext& context) const
{
    proposer::Implementation answer{.id = RequestId{0}};
    const Space space(readMarks(context.parentSource).tunables);
    const int planned = plannedTries(space);
    Random random(context.seed, context.idea.value, context.ordinal);
    const auto point = nextPoint(space, historyOf(space, context), random, context.ordinal, planned);
    if (!point || context.ordinal >= planned) {
        answer.exhausted = true;
        answer.reason = "Every planned combination of the kernel's tunables was tried.";
        return answer;
    }
    const TunableValues values = space.valuesAt(*point);
    auto source = withTunables(context.parentSource, values);
    if (!source) {
        answer.reason = source.error().message;
        return answer;
    }
    answer.source = std::move(*source);
    for (const auto& [name, value] : values) {
        answer.title += fmt::format("{}{}={}", answer.title.empty() ? "" : " ", name, value);
    }
    answer.payload = Json{{"values", values}}.dump();
    return answer;
}

} // namespace espalier
