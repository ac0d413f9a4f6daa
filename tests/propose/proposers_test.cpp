// SPDX-License-Identifier: Apache-2.0
#include "core/propose/proposers.h"

#include "core/propose/manual_proposer.h"
#include "core/propose/playbook_proposer.h"
#include "core/propose/tunables.h"
#include "core/propose/tuner_proposer.h"

#include <gtest/gtest.h>
#include <set>

namespace espalier {
namespace {

const std::string grid = "// espalier: tune BLOCK = 128 256 512\n#define BLOCK 256\n"
                         "// espalier: tune ITEMS = 1 2 4 8\n#define ITEMS 4\nkernel\n";

std::shared_ptr<const Task> chainTask()
{
    auto task = std::make_shared<Task>();
    task->id = "chain";
    task->playbook = {{.id = "a", .parent = "", .title = "A", .text = "do a", .source = {"a.cu", "source a"}},
                      {.id = "b", .parent = "a", .title = "B", .text = "do b", .source = {"b.cu", "source b"}},
                      {.id = "c", .parent = "", .title = "C", .text = "do c", .source = {"c.cu", "source c"}}};
    return task;
}

std::vector<std::string> keysOf(Proposer& proposer, const IdeaContext& context)
{
    proposer.ideas(RequestId{7}, context);
    std::vector<std::string> keys;
    for (const auto& answer : proposer.receive()) {
        EXPECT_EQ(std::get<proposer::Ideas>(answer).id, RequestId{7});
        for (const ProposedIdea& idea : std::get<proposer::Ideas>(answer).ideas) {
            keys.push_back(idea.key);
        }
    }
    EXPECT_TRUE(proposer.receive().empty());
    return keys;
}

proposer::Implementation implementationOf(Proposer& proposer, const ImplementContext& context)
{
    proposer.implement(RequestId{9}, context);
    const auto answers = proposer.receive();
    EXPECT_EQ(answers.size(), 1u);
    return std::get<proposer::Implementation>(answers.at(0));
}

TEST(Playbook, IdeasApplyUnderTheIdeaTheyBuildOn)
{
    PlaybookProposer playbook;
    IdeaContext context{.task = chainTask(), .parentIsTaskRoot = true, .parentProposer = "task"};
    EXPECT_EQ(keysOf(playbook, context), (std::vector<std::string>{"a", "c"}));
    context.independent = true;
    EXPECT_EQ(keysOf(playbook, context), (std::vector<std::string>{"a", "b", "c"}));
    context = {.task = chainTask(), .parentProposer = "playbook", .lineage = {{"playbook", "a"}}};
    EXPECT_EQ(keysOf(playbook, context), std::vector<std::string>{"b"});
    context.lineage = {{"playbook", "a"}, {"playbook", "b"}};
    EXPECT_TRUE(keysOf(playbook, context).empty());
    context = {.task = chainTask(), .parentProposer = "tuner", .lineage = {{"playbook", "a"}}};
    EXPECT_TRUE(keysOf(playbook, context).empty());
    context = {.task = chainTask(), .parentProposer = "engineer"};
    EXPECT_TRUE(keysOf(playbook, context).empty());
}

TEST(Playbook, KnowsWhatFollows)
{
    PlaybookProposer playbook;
    EXPECT_EQ(playbook.sourcesAfter(*chainTask(), ""), (std::vector<std::string>{"source a", "source c"}));
    EXPECT_EQ(playbook.sourcesAfter(*chainTask(), "a"), std::vector<std::string>{"source b"});
    EXPECT_TRUE(playbook.sourcesAfter(*chainTask(), "b").empty());
}

TEST(Playbook, GivesItsKernelOnce)
{
    PlaybookProposer playbook;
    EXPECT_EQ(implementationOf(playbook, {.task = chainTask(), .key = "b"}).source, "source b");
    EXPECT_TRUE(implementationOf(playbook, {.task = chainTask(), .key = "b", .ordinal = 1}).exhausted);
    EXPECT_EQ(implementationOf(playbook, {.task = chainTask(), .key = "gone"}).reason,
              "The playbook of task chain no longer holds an idea \"gone\".");
}

TEST(Playbook, ACancelledQuestionIsNotAnswered)
{
    PlaybookProposer playbook;
    playbook.ideas(RequestId{1}, {.task = chainTask(), .parentIsTaskRoot = true});
    playbook.cancel(RequestId{1});
    EXPECT_TRUE(playbook.receive().empty());
}

TEST(Tuner, OffersOneIdeaForAKernelWithTunables)
{
    TunerProposer tuner;
    EXPECT_EQ(keysOf(tuner, {.parentSource = grid, .parentProposer = "playbook"}), std::vector<std::string>{"tune"});
    EXPECT_TRUE(keysOf(tuner, {.parentSource = grid, .parentProposer = "tuner"}).empty());
    EXPECT_TRUE(keysOf(tuner, {.parentSource = "kernel", .parentProposer = "playbook"}).empty());
}

/// Runs the tuner to its end on a made-up landscape; returns the points in order.
std::vector<TunableValues> tunedPoints(std::uint64_t seed, bool answered)
{
    TunerProposer tuner;
    ImplementContext context{.seed = seed, .idea = NodeId{5}, .parentSource = grid, .parentScore = 1.0};
    std::vector<TunableValues> points;
    for (;; ++context.ordinal) {
        const auto answer = implementationOf(tuner, context);
        if (answer.exhausted) {
            return points;
        }
        TunableValues values;
        for (const Tunable& tunable : readMarks(answer.source).tunables) {
            values[tunable.name] = tunable.current;
        }
        EXPECT_EQ(withTunables(grid, values).value(), answer.source) << "only the constants may differ";
        const double score =
            2.0 - static_cast<double>(values["BLOCK"]) / 512 + static_cast<double>(values["ITEMS"]) / 8;
        EarlierTry earlier{context.ordinal, answer.payload, std::nullopt, std::nullopt};
        if (answered) {
            earlier.outcome = Outcome::Passed;
            earlier.score = score;
        }
        context.earlier.push_back(earlier);
        points.push_back(values);
    }
}

TEST(Tuner, TriesEveryPointOnceButTheParents)
{
    const auto points = tunedPoints(1, true);
    EXPECT_EQ(points.size(), 11u);
    EXPECT_EQ(std::set<TunableValues>(points.begin(), points.end()).size(), 11u);
    for (const TunableValues& point : points) {
        EXPECT_NE(point, (TunableValues{{"BLOCK", 256}, {"ITEMS", 4}}));
    }
    EXPECT_EQ(tunedPoints(1, false).size(), 11u);
}

TEST(Tuner, SameSeedSamePointsAnotherSeedOthers)
{
    EXPECT_EQ(tunedPoints(3, true), tunedPoints(3, true));
    EXPECT_NE(tunedPoints(3, true), tunedPoints(4, true));
}

TEST(Tuner, RefinesAroundTheBest)
{
    // On a smooth landscape the best point of twelve is found in the first two thirds, whatever the seed.
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto points = tunedPoints(seed, true);
        const auto found = std::find(points.begin(), points.end(), TunableValues{{"BLOCK", 128}, {"ITEMS", 8}});
        EXPECT_LT(found - points.begin(), 9) << "seed " << seed;
    }
}

TEST(Tuner, TitleAndPayloadNameTheValues)
{
    TunerProposer tuner;
    const std::string source = "// espalier: tune N = 1 2\n#define N 1\n";
    const auto answer = implementationOf(tuner, {.parentSource = source});
    EXPECT_EQ(answer.title, "N=2");
    EXPECT_EQ(answer.payload, "{\"values\":{\"N\":2}}");
    EXPECT_EQ(answer.source, "// espalier: tune N = 1 2\n#define N 2\n");
}

TEST(Tuner, ABrokenPayloadIsIgnored)
{
    TunerProposer tuner;
    for (const char* payload :
         {"", "{", "[]", "{\"values\":3}", "{\"values\":{\"N\":\"x\"}}", "{\"values\":{\"N\":77}}"}) {
        ImplementContext context{.parentSource = "// espalier: tune N = 1 2\n#define N 1\n"};
        context.earlier = {{0, payload, Outcome::Passed, 5.0}};
        EXPECT_EQ(implementationOf(tuner, context).title, "N=2") << payload;
    }
}

TEST(Manual, OffersNothingAndWaits)
{
    ManualProposer manual;
    EXPECT_TRUE(keysOf(manual, {.parentIsTaskRoot = true}).empty());
    EXPECT_TRUE(implementationOf(manual, {}).exhausted);
}

TEST(Proposers, AreMadeByName)
{
    const auto made = makeProposers({"tuner", "playbook", "manual"});
    ASSERT_TRUE(made);
    EXPECT_EQ((*made)[0]->name(), "tuner");
    EXPECT_EQ(makeProposers({"playbok"}).error().message,
              "There is no proposer \"playbok\": choose from playbook, tuner, llm, command, manual, replay.");
    EXPECT_EQ(makeProposers({"llm"}).error().message,
              "Proposer \"llm\" needs a model: name one with --provider and --model, or a saved profile with "
              "--model-profile.");
    EXPECT_EQ(makeProposers({"tuner", "tuner"}).error().message, "Proposer \"tuner\" is named twice: name it once.");
}

} // namespace
} // namespace espalier
