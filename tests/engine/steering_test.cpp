// SPDX-License-Identifier: Apache-2.0
// One steering session from beginning to end, as a script: what each act does to the tree, at once and after a restart.
#include "core/base/json.h"
#include "tests/engine/engine_harness.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

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
    engine.post(command::Step{});
    engine.settle();
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
