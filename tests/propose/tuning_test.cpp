// SPDX-License-Identifier: Apache-2.0
#include "core/propose/tuner_proposer.h"
#include "core/propose/tuning_method.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace espalier {
namespace {

bool holds(std::string_view text, TunableValues values = {{"A", 6}, {"B", 4}})
{
    const auto condition = TuneCondition::read(text);
    EXPECT_TRUE(condition) << text << ": " << condition.error().message;
    return condition && condition->holds(values);
}

TEST(TuneCondition, FollowsTheRulesOfC)
{
    for (const char* yes :
         {"A", "A == 6", "A + B * 2 == 14", "(A + B) * 2 == 20", "A % B == 2 && B < 5", "!(A < B)", "A - -B == 10",
          "A < 0 || B >= 4", "1 || 1 && 0", "A*B<=24", "A - 2 - 2 == 2", "A / 4 == 1"}) {
        EXPECT_TRUE(holds(yes)) << yes;
    }
    for (const char* no : {"A < B", "A == 6 && B == 5", "!A", "A / (B - 4)", "A % (B - 4) == 0", "C == 1",
                           "9223372036854775807 + A > 0"}) {
        EXPECT_FALSE(holds(no)) << no;
    }
}

TEST(TuneCondition, SaysWhatItDoesNotUnderstand)
{
    for (const char* broken : {"", "A <", "A B", "(A", "A)", "1x", "A && ", "= 3", "A @ B"}) {
        const auto condition = TuneCondition::read(broken);
        ASSERT_FALSE(condition) << broken;
        EXPECT_EQ(condition.error().message.rfind("Expected", 0), 0u) << condition.error().message;
    }
    EXPECT_FALSE(TuneCondition::read(std::string(100, '(') + "1" + std::string(100, ')')));
    EXPECT_FALSE(TuneCondition::read(std::string(3000, '!') + "1"));
}

TEST(TuneCondition, StandsInMarks)
{
    const SourceMarks marks = readMarks("// espalier: tune-if A < B\n// espalier: tune A = 1 2\n#define A 1\n"
                                        "// espalier: tune B = 1 2 3\n#define B 2\n// espalier: tune-if C > 1\n"
                                        "// espalier: tune-if A <\n");
    ASSERT_EQ(marks.conditions.size(), 1u);
    EXPECT_EQ(marks.conditions[0].text(), "A < B");
    ASSERT_EQ(marks.problems.size(), 2u);
    EXPECT_EQ(marks.problems[0].line, 7);
    EXPECT_EQ(marks.problems[1].sentence, "The condition names C, which is no tunable.");
}

/// A grid like a real kernel's: 5 x 4 x 4 x 3 values, two conditions.
const std::string wide = "// espalier: tune BLOCK = 64 128 256 512 1024\n#define BLOCK 256\n"
                         "// espalier: tune ITEMS = 1 2 4 8\n#define ITEMS 4\n"
                         "// espalier: tune STAGES = 1 2 3 4\n#define STAGES 2\n"
                         "// espalier: tune VEC = 1 2 4\n#define VEC 1\n"
                         "// espalier: tune-if BLOCK * ITEMS <= 2048\n// espalier: tune-if VEC <= ITEMS\n";

/// Faster towards one corner, with a ridge between two of the tunables, and a part that fails.
std::optional<double> scoreAt(const TunableValues& values)
{
    const double block = std::log2(static_cast<double>(values.at("BLOCK"))),
                 items = std::log2(static_cast<double>(values.at("ITEMS")));
    const auto stages = static_cast<double>(values.at("STAGES")),
               vec = std::log2(static_cast<double>(values.at("VEC")));
    if (values.at("STAGES") == 4 && values.at("BLOCK") == 512) {
        return std::nullopt;
    }
    return std::exp(-0.1 * std::pow(block + items - 9, 2) - 0.05 * std::pow(items - 2, 2) -
                    0.2 * std::pow(stages - 3, 2) - 0.15 * std::pow(vec - 2, 2));
}

struct TuningRun {
    std::vector<TunableValues> points;
    double best = 0;
};

TuningRun tuned(std::uint64_t seed, int lag = 3)
{
    const TuningSpace space(readMarks(wide));
    TuningRun run;
    std::vector<TunedTry> tries = {{space.start(), scoreAt(space.valuesAt(space.start())), true}};
    for (int ordinal = 0; ordinal < TunerProposer::mostTries; ++ordinal) {
        TuningRandom random(seed, 5, ordinal);
        const auto point = nextTuningPoint(space, tries, random, ordinal, TunerProposer::mostTries);
        EXPECT_TRUE(point);
        const TunableValues values = space.valuesAt(*point);
        EXPECT_TRUE(space.allowed(*point));
        tries.push_back({*point, std::nullopt, false});
        if (static_cast<int>(tries.size()) > lag) { // outcomes come later
            TunedTry& known = tries[tries.size() - static_cast<std::size_t>(lag) - 1];
            known.known = true;
            known.score = scoreAt(space.valuesAt(known.point));
        }
        run.points.push_back(values);
        run.best = std::max(run.best, scoreAt(values).value_or(0));
    }
    return run;
}

TEST(Tuning, NeverTwiceAndNeverWhatIsExcluded)
{
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const TuningRun run = tuned(seed);
        EXPECT_EQ(std::set<TunableValues>(run.points.begin(), run.points.end()).size(), run.points.size());
        for (const TunableValues& values : run.points) {
            EXPECT_LE(values.at("BLOCK") * values.at("ITEMS"), 2048);
            EXPECT_LE(values.at("VEC"), values.at("ITEMS"));
        }
        EXPECT_EQ(tuned(seed).points, run.points);
    }
}

TEST(Tuning, FindsMoreThanRandomPointsDo)
{
    const TuningSpace space(readMarks(wide));
    double model = 0, chance = 0;
    constexpr int seeds = 40;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        model += tuned(seed).best / seeds;
        std::set<TuningPoint> drawn;
        double best = 0;
        for (int i = 0; drawn.size() < TunerProposer::mostTries; ++i) {
            TuningRandom random(seed, 9, i);
            const TuningPoint point = *space.anyPoint(random);
            drawn.insert(point);
            best = std::max(best, scoreAt(space.valuesAt(point)).value_or(0));
        }
        chance += best / seeds;
    }
    EXPECT_GT(model, chance + 0.01);
    EXPECT_GT(model, 0.95); // of the best there is
}

TEST(Tuning, ALargeGridIsSampled)
{
    std::string source;
    for (char name = 'A'; name <= 'H'; ++name) {
        source += std::string("// espalier: tune ") + name + " = 1 2 3 4 5 6 7 8\n#define " + name + " 1\n";
    }
    source += "// espalier: tune-if A + B < 9\n";
    const TuningSpace space(readMarks(source));
    EXPECT_FALSE(space.listed());
    EXPECT_EQ(space.size(), 1'000'000u);
    std::vector<TunedTry> tries = {{space.start(), 1.0, true}};
    std::set<TuningPoint> seen;
    for (int ordinal = 0; ordinal < 24; ++ordinal) {
        TuningRandom random(1, 1, ordinal);
        const auto point = nextTuningPoint(space, tries, random, ordinal, 24);
        ASSERT_TRUE(point);
        EXPECT_TRUE(space.allowed(*point));
        EXPECT_TRUE(seen.insert(*point).second);
        tries.push_back({*point, 1.0 + static_cast<double>((*point)[0]), true});
    }
}

TEST(Tuning, ConditionsThatLeaveNothingMakeNoIdea)
{
    TunerProposer tuner;
    tuner.ideas(RequestId{1}, {.parentSource = "// espalier: tune N = 1 2\n#define N 1\n// espalier: tune-if N == 1\n",
                               .parentProposer = "playbook"});
    EXPECT_TRUE(std::get<proposer::Ideas>(tuner.receive().at(0)).ideas.empty());
}

TEST(Tuning, ACrossoverTakesTheOthersValues)
{
    TunerProposer tuner;
    const std::string first = "// espalier: tune N = 1 2\n#define N 1\n// espalier: tune M = 1 2\n#define M 1\n";
    const std::string second = "// espalier: tune N = 1 2\n#define N 2\nother\n";
    const auto idea = tuner.crossing(
        {.first = NodeId{3}, .firstSource = first, .second = NodeId{5}, .secondSource = second, .secondTitle = "x"});
    ASSERT_TRUE(idea);
    EXPECT_EQ(idea->title, "Cross with node 5: M=1 N=2");
    tuner.implement(RequestId{1}, {.key = idea->key, .payload = idea->payload, .parentSource = first});
    const auto made = std::get<proposer::Implementation>(tuner.receive().at(0));
    EXPECT_EQ(made.source, "// espalier: tune N = 1 2\n#define N 2\n// espalier: tune M = 1 2\n#define M 1\n");
    EXPECT_FALSE(tuner.crossing({.firstSource = first, .secondSource = first}));
    EXPECT_FALSE(tuner.crossing({.firstSource = first, .secondSource = "// espalier: tune N = 1 9\n#define N 9\n"}));
    EXPECT_FALSE(tuner.crossing({.firstSource = first + "// espalier: tune-if N == M\n", .secondSource = second}));
}

} // namespace
} // namespace espalier
