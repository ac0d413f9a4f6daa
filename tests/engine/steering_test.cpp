// SPDX-License-Identifier: Apache-2.0
// One steering session from beginning to end, as a script: what each act does to the tree, at once and after a restart.
#include "core/base/json.h"
#include "tests/engine/engine_harness.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <vector>

namespace espalier {
namespace {

NodeId ideaTitled(const EngineHarness& engine, const std::string& title)
{
    for (const auto& [id, node] : engine.nodes) {
        if (node.kind == NodeKind::Idea && node.title == title) {
            return id;
        }
    }
    ADD_FAILURE() << "no idea " << title << " in\n" << engine.tree();
    return NodeId{0};
}

int candidatesUnder(const EngineHarness& engine, NodeId parent)
{
    return static_cast<int>(std::count_if(engine.nodes.begin(), engine.nodes.end(), [parent](const auto& entry) {
        return !entry.second.parents.empty() && entry.second.parents.front().parent == parent;
    }));
}

TEST(SteeringSession, EveryActIsInTheTreeBeforeTheNextExpansion)
{
    EngineHarness engine;
    engine.options.strategy = "ucb";
    ASSERT_TRUE(engine.open());
    engine.post(command::Step{});
    engine.settle();
    const int after = engine.status.evaluations;
    EXPECT_EQ(after, 1);

    // Prune: the branch gets nothing more. Boost: the next expansion is there. Edit: the words change, the id stays.
    const NodeId vector = ideaTitled(engine, "vector");
    engine.post(command::SetPruned{vector, true});
    const NodeId broken = ideaTitled(engine, "broken");
    engine.post(command::SetBoost{broken, 50});
    engine.post(command::AddIdea{taskRoot, "mine", "first words"});
    const NodeId mine = ideaTitled(engine, "mine");
    engine.post(command::EditIdea{mine, "mine", "better words"});
    engine.post(command::Inject{mine, "own kernel", "own time=30\n"});
    engine.post(command::Inject{std::nullopt, "other root", "other time=60\n"});
    engine.post(command::SetPinned{engine.node("other root"), true});
    ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    for (int step = 1; step <= 3; ++step) { // the own kernels wait: they come first, then what is boosted
        EXPECT_EQ(candidatesUnder(engine, broken), 0) << engine.tree();
        engine.post(command::Step{});
        engine.settle();
        EXPECT_EQ(engine.status.evaluations, after + step);
    }
    EXPECT_EQ(candidatesUnder(engine, broken), 1) << engine.tree();
    EXPECT_EQ(candidatesUnder(engine, vector), 0) << engine.tree();
    EXPECT_EQ(engine.summary("own kernel").outcome, Outcome::Passed);
    EXPECT_EQ(engine.summary("other root").kind, NodeKind::Root);
    EXPECT_EQ(engine.status.best, engine.node("own kernel"));

    engine.run();
    EXPECT_EQ(candidatesUnder(engine, vector), 0) << engine.tree();
    const std::string tree = engine.tree();

    // All of it is stored, with who and when; a reopened session stands where it stood.
    engine.drop();
    const auto acts = Store::open(engine.options.session, Store::Mode::ReadOnly).value()->acts().value();
    std::set<std::string> names;
    for (const StoredAct& act : acts) {
        EXPECT_EQ(act.author, "engineer");
        EXPECT_FALSE(act.at.empty());
        names.insert(parseJson(act.what, "act").value().value("act", ""));
    }
    for (const char* name : {"prune", "boost", "edit", "pin", "add-idea", "inject"}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
    ASSERT_TRUE(engine.open());
    engine.turn();
    EXPECT_EQ(engine.tree(), tree);

    // Undone: restored, it is searched like anything else.
    engine.post(command::SetPruned{vector, false});
    engine.run();
    EXPECT_EQ(candidatesUnder(engine, vector), 1) << engine.tree();
}

/// Three ideas for the root, and kernels with tunables, for a strategy that has ideas for roots only: what comes of any
/// other kernel is the engineer's doing.
void withTunedPlaybook(EngineHarness& engine)
{
    engine.options.strategy = "sample";
    engine.task.playbook.clear();
    for (const std::string id : {"one", "two", "three"}) {
        engine.task.playbook.push_back(
            {id,
             "",
             id,
             "do " + id,
             {id + ".cu", id + " time=80 \n// espalier: tune BLOCK = 64 128\n#define BLOCK 128\n"}});
    }
}

TEST(SteeringSession, PinPruneInjectEditAndBudgetEachChangeTheTree)
{
    EngineHarness untouched;
    withTunedPlaybook(untouched);
    ASSERT_TRUE(untouched.open());
    untouched.run();
    ASSERT_EQ(untouched.status.evaluations, 3) << untouched.tree();

    // Budget: the session stands still at one evaluation.
    EngineHarness engine;
    withTunedPlaybook(engine);
    ASSERT_TRUE(engine.open());
    engine.post(command::ChangeBudget{{.evaluations = 1}, {}});
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    ASSERT_EQ(engine.status.evaluations, 1) << engine.tree();
    std::optional<NodeId> first;
    std::vector<NodeId> untried;
    for (const auto& [id, node] : engine.nodes) {
        if (node.kind == NodeKind::Candidate) {
            first = id;
        } else if (node.kind == NodeKind::Idea && candidatesUnder(engine, id) == 0) {
            untried.push_back(id);
        }
    }
    ASSERT_TRUE(first);
    ASSERT_EQ(untried.size(), 2u) << engine.tree();

    // Pin: it is a parent from now on. Prune: nothing is made of it. Edit: what is made of it has the new title.
    // Inject: it is judged though nobody chose it. Budget: the search goes on.
    engine.post(command::SetPinned{*first, true});
    engine.post(command::SetPruned{untried[0], true});
    engine.post(command::FetchDetail{untried[1]});
    const std::string words =
        engine.detail->ideaText; // a playbook writes its own ideas only; of a model's, see ModelSearch
    engine.post(command::EditIdea{untried[1], "edited", words});
    engine.post(command::Inject{*first, "own kernel", "own time=30\n"});
    engine.post(command::ChangeBudget{{}, {"evaluations"}});
    ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    engine.run();
    int tuned = 0;
    for (const auto& [id, node] : engine.nodes) {
        if (node.kind == NodeKind::Idea && node.proposer == "tuner") {
            ++tuned;
            EXPECT_EQ(node.parents.front().parent, *first) << engine.tree();
            EXPECT_GE(candidatesUnder(engine, id), 1) << engine.tree();
        }
    }
    EXPECT_EQ(tuned, 1) << "the pinned one had ideas, and nothing else did\n" << engine.tree();
    EXPECT_EQ(candidatesUnder(engine, untried[0]), 0) << engine.tree();
    EXPECT_EQ(engine.summary("own kernel").parents.front().parent, *first);
    EXPECT_EQ(engine.summary("own kernel").outcome, Outcome::Passed);
    EXPECT_EQ(engine.status.best, engine.node("own kernel"));
    EXPECT_EQ(engine.nodes.at(untried[1]).title, "edited");
    ASSERT_EQ(candidatesUnder(engine, untried[1]), 1) << engine.tree();
    const auto made = std::find_if(engine.nodes.begin(), engine.nodes.end(), [&untried](const auto& entry) {
        return !entry.second.parents.empty() && entry.second.parents.front().parent == untried[1];
    });
    EXPECT_EQ(made->second.title, "edited");

    const std::string tree = engine.tree();
    engine.drop();
    ASSERT_TRUE(engine.open());
    engine.turn();
    EXPECT_EQ(engine.tree(), tree);
}

TEST(SteeringSession, EveryExpansionSaysWhyItWasChosen)
{
    EngineHarness engine;
    engine.options.budget = Budget{4, {}, {}};
    ASSERT_TRUE(engine.open());
    engine.run();
    engine.drop();
    int candidates = 0, ideas = 0;
    for (const StoredNode& node : engine.storedNodes()) {
        if (node.kind != NodeKind::Root) {
            EXPECT_NE(node.payload.find("\"why\":\""), std::string::npos) << node.title << ": " << node.payload;
            ++(node.kind == NodeKind::Candidate ? candidates : ideas);
        }
    }
    EXPECT_GE(candidates, 4);
    EXPECT_GE(ideas, 4);

    // Observers hear it with the rest of a node; what the engineer wrote was not chosen by anybody.
    ASSERT_TRUE(engine.open());
    engine.post(command::FetchDetail{engine.node("vector")});
    EXPECT_NE(engine.detail->why, "");
    engine.post(command::AddIdea{taskRoot, "mine", "words"});
    engine.post(command::FetchDetail{engine.node("mine")});
    EXPECT_EQ(engine.detail->why, "");
}

TEST(SteeringSession, ObserversHearOfHintsAtOnceAndAfterARestart)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    ASSERT_EQ(engine.standing.size(), 1u);
    EXPECT_TRUE(engine.standing.back().hints.empty());
    engine.post(command::AddHint{"Rows are short."});
    engine.post(command::AddHint{"No shared memory."});
    engine.post(command::SetPinned{taskRoot, true}); // nothing new to hear
    ASSERT_EQ(engine.standing.size(), 3u);
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.standing.back().hints, (std::vector<std::string>{"Rows are short.", "No shared memory."}));
    engine.post(command::RemoveHint{1});
    EXPECT_EQ(engine.standing.back().hints, std::vector<std::string>{"No shared memory."});
    engine.post(command::RemoveHint{7});
    EXPECT_EQ(engine.failures.back().what, "unhint");
    EXPECT_EQ(engine.standing.size(), 5u);
}

} // namespace
} // namespace espalier
