// SPDX-License-Identifier: Apache-2.0
#include "core/propose/tuner_proposer.h"

#include "core/base/json.h"
#include "core/propose/tuning_method.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::string_view crossKey = "cross-";

std::vector<TunedTry> triesOf(const TuningSpace& space, const ImplementContext& context)
{
    std::vector<TunedTry> tries = {{space.start(), context.parentScore, context.parentScore.has_value()}};
    for (const EarlierTry& earlier : context.earlier) {
        if (auto point = space.pointOf(earlier.payload)) {
            const bool passed = earlier.outcome == Outcome::Passed;
            tries.push_back({std::move(*point), passed ? earlier.score : std::nullopt, earlier.outcome.has_value()});
        }
    }
    return tries;
}

std::string namesOf(const std::vector<Tunable>& tunables)
{
    std::string names;
    for (const Tunable& tunable : tunables) {
        names += (names.empty() ? "" : ", ") + tunable.name;
    }
    return names;
}

std::string titleOf(const TunableValues& values)
{
    std::string title;
    for (const auto& [name, value] : values) {
        title += fmt::format("{}{}={}", title.empty() ? "" : " ", name, value);
    }
    return title;
}

int plannedTries(const TuningSpace& space)
{
    return static_cast<int>(std::min<std::size_t>(space.choices(), TunerProposer::mostTries));
}

/// The kernel's own values, with the other's where both declare the tunable and the kernel allows the value.
TunableValues crossedValues(const SourceMarks& own, const SourceMarks& other)
{
    TunableValues values;
    for (const Tunable& tunable : own.tunables) {
        values[tunable.name] = tunable.current;
        for (const Tunable& theirs : other.tunables) {
            const bool allowed =
                std::find(tunable.values.begin(), tunable.values.end(), theirs.current) != tunable.values.end();
            if (theirs.name == tunable.name && allowed) {
                values[tunable.name] = theirs.current;
            }
        }
    }
    return values;
}

proposer::Implementation kernelWith(const std::string& parentSource, const TunableValues& values)
{
    proposer::Implementation answer{.id = RequestId{0}};
    auto source = withTunables(parentSource, values);
    if (!source) {
        answer.reason = source.error().message;
        return answer;
    }
    answer.source = std::move(*source);
    answer.title = titleOf(values);
    answer.payload = Json{{"values", values}}.dump();
    return answer;
}

} // namespace

std::vector<ProposedIdea> TunerProposer::offer(const IdeaContext& context) const
{
    // A tuned kernel has the grid of the kernel it was tuned from, which that idea already searches.
    if (context.parentProposer == "tuner") {
        return {};
    }
    const SourceMarks marks = readMarks(context.parentSource);
    if (marks.tunables.empty()) {
        return {};
    }
    const int planned = plannedTries(TuningSpace(marks));
    if (planned == 0) { // its conditions leave nothing
        return {};
    }
    ProposedIdea idea;
    idea.key = "tune";
    idea.title = fmt::format("Tune {}", namesOf(marks.tunables));
    idea.text = fmt::format("Try other values of {} that the kernel declares as tunable; nothing else changes.",
                            namesOf(marks.tunables));
    idea.payload = "{}";
    idea.implementations = planned;
    return {idea};
}

std::optional<ProposedIdea> TunerProposer::crossing(const CrossingContext& context) const
{
    const SourceMarks own = readMarks(context.firstSource);
    const TunableValues values = crossedValues(own, readMarks(context.secondSource));
    const bool differs = std::any_of(own.tunables.begin(), own.tunables.end(), [&values](const Tunable& tunable) {
        return values.at(tunable.name) != tunable.current;
    });
    const bool holds = std::all_of(own.conditions.begin(), own.conditions.end(),
                                   [&values](const TuneCondition& condition) { return condition.holds(values); });
    if (!differs || !holds) {
        return std::nullopt;
    }
    ProposedIdea idea;
    idea.key = fmt::format("{}{}", crossKey, context.second.value);
    idea.title = fmt::format("Cross with node {}: {}", context.second.value, titleOf(values));
    idea.text = fmt::format("Give the kernel the values that node {} (\"{}\") has of the tunables which both declare.",
                            context.second.value, context.secondTitle);
    idea.payload = Json{{"values", values}}.dump();
    return idea;
}

proposer::Implementation TunerProposer::write(const ImplementContext& context) const
{
    proposer::Implementation answer{.id = RequestId{0}};
    const SourceMarks marks = readMarks(context.parentSource);
    if (context.key.starts_with(crossKey)) {
        const TuningSpace space(marks);
        const auto point = space.pointOf(context.payload);
        if (context.ordinal > 0 || !point) {
            answer.exhausted = true;
            answer.reason = "A crossover of tunables has one kernel, and this one was tried.";
            return answer;
        }
        return kernelWith(context.parentSource, space.valuesAt(*point));
    }
    const TuningSpace space(marks);
    const int planned = plannedTries(space);
    TuningRandom random(context.seed, context.idea.value, context.ordinal);
    std::optional<TuningPoint> point;
    if (context.ordinal < planned) {
        point = nextTuningPoint(space, triesOf(space, context), random, context.ordinal, planned);
    }
    if (!point) {
        answer.exhausted = true;
        answer.reason = "Every planned combination of the kernel's tunables was tried.";
        return answer;
    }
    return kernelWith(context.parentSource, space.valuesAt(*point));
}

} // namespace espalier
