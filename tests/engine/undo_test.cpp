// SPDX-License-Identifier: Apache-2.0
// Acts that are taken back, and what was taken back and comes again.
#include "tests/engine/live_acts.h"

#include <fmt/format.h>

namespace espalier {
namespace {

TEST(LiveActs, UndoTakesBackOneActAfterTheOther)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Undo{});
    EXPECT_NE(lastRefusal(engine).find("There is nothing to undo"), std::string::npos);
    engine.failures.clear();
    engine.post(command::Step{});
    engine.settle();
    const NodeId vector = engine.idea("vector");
    engine.post(command::AddIdea{taskRoot, "mine", "first"});
    const NodeId mine = engine.idea("mine");
    engine.post(command::SetPruned{vector, true});
    engine.post(command::SetPinned{vector, true});
    engine.post(command::SetBoost{vector, 3});
    engine.post(command::EditIdea{mine, "mine too", "second"});
    engine.post(command::AddHint{"be brief"});
    engine.post(command::Ban{"no fp16", ""});
    engine.post(command::SetBudget{{.evaluations = 5}});
    engine.post(command::SetBranchBudget{vector, {.usd = 1.5}});
    engine.post(command::SetStrategy{"beam"});
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    EXPECT_EQ(engine.status.budget.evaluations, 5);

    const auto undo = [&engine] {
        engine.post(command::Undo{});
        ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    };
    undo();
    EXPECT_EQ(engine.info.strategy, "refine");
    undo();
    EXPECT_TRUE(engine.nodes.at(vector).budget.none());
    undo();
    EXPECT_EQ(engine.status.budget, Budget{});
    ASSERT_TRUE(engine.open()); // what can be undone is in the session
    undo();
    EXPECT_TRUE(engine.standing.back().bans.empty());
    undo();
    EXPECT_TRUE(engine.standing.back().hints.empty());
    undo();
    EXPECT_EQ(engine.nodes.at(mine).title, "mine");
    engine.post(command::SetPinned{mine, true}); // a new act comes first
    undo();
    EXPECT_FALSE(engine.nodes.at(mine).pinned);
    undo();
    EXPECT_EQ(engine.nodes.at(vector).boost, 1);
    undo();
    EXPECT_FALSE(engine.nodes.at(vector).pinned);
    EXPECT_TRUE(engine.nodes.at(vector).pruned);
    undo();
    EXPECT_FALSE(engine.nodes.at(vector).pruned);
    EXPECT_FALSE(engine.nodes.at(mine).pruned);
    undo();
    EXPECT_TRUE(engine.nodes.at(mine).pruned) << "what grew is never removed";
    engine.post(command::Undo{});
    EXPECT_NE(lastRefusal(engine).find("There is nothing to undo"), std::string::npos);
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 17) << engine.tree();
}

TEST(LiveActs, UndoPrunesWhatGrewAndPutsBackWhatWasAttached)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::AddIdea{taskRoot, "mine", "words"});
    engine.post(command::Inject{taskRoot, "own", "own time=10\n"});
    engine.post(command::Attach{"notes", "first"});
    engine.post(command::Attach{"notes", "second"});
    engine.post(command::Attach{"notes", ""});
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    const auto attached = [&engine] {
        return Store::open(engine.options.session, Store::Mode::ReadOnly)
            .value()
            ->value("prompt.attachments")
            .value()
            .value_or("");
    };
    const auto undo = [&engine] {
        engine.post(command::Undo{});
        ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    };
    EXPECT_EQ(attached(), "[]");
    undo();
    EXPECT_NE(attached().find("second"), std::string::npos);
    ASSERT_TRUE(engine.open()); // what can be undone is in the session
    undo();
    EXPECT_NE(attached().find("first"), std::string::npos);
    undo();
    EXPECT_EQ(attached(), "[]");
    undo();
    EXPECT_TRUE(engine.summary("own").pruned);
    undo();
    EXPECT_TRUE(engine.summary("mine").pruned);
    engine.run();
    EXPECT_EQ(engine.ledger.timed.count("own time=10\n"), 0u) << engine.tree();
    EXPECT_EQ(engine.status.evaluations, 17) << engine.tree();
}

TEST(LiveActs, AnUndoneKernelIsPutBackWhereItIsGivenAgain)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    const std::string source = "own time=10\n";
    engine.post(command::Inject{taskRoot, "own", source});
    const NodeId own = engine.node("own");
    engine.post(command::Undo{});
    ASSERT_TRUE(engine.open());
    engine.post(command::Inject{taskRoot, "the same", source});
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    EXPECT_FALSE(engine.nodes.at(own).pruned);
    engine.run();
    EXPECT_EQ(engine.status.best, own) << engine.tree();
    EXPECT_EQ(engine.ledger.timed[source], 1);

    engine.post(command::SetPruned{own, true}); // with a verdict it is the session's
    engine.post(command::Inject{taskRoot, "once more", source});
    EXPECT_EQ(lastRefusal(engine),
              fmt::format("The session has this kernel already: it is node {0} (\"own\"), which is out of the "
                          "search: put it back (steer restore --node {0}).",
                          own.value));
}

TEST(LiveActs, AnUndoneKernelIsNobodysTwin)
{
    const std::string source = EngineHarness().task.playbook.front().source.text;
    const auto prepare = [&source](EngineHarness& engine) {
        ASSERT_TRUE(engine.open());
        engine.post(command::Inject{taskRoot, "own", source});
        engine.post(command::Undo{});
        ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
        engine.drop();
        engine.writes = 0;
    };
    EngineHarness undisturbed;
    prepare(undisturbed);
    ASSERT_TRUE(undisturbed.runUnlessKilled());
    EXPECT_EQ(undisturbed.ledger.timed[source], 1) << undisturbed.tree();
    EXPECT_EQ(undisturbed.status.evaluations, 17) << undisturbed.tree();
    const int writes = undisturbed.writes;
    ASSERT_GT(writes, 50);
    for (int write = 1; write <= writes && !::testing::Test::HasFailure(); ++write) {
        EngineHarness engine;
        prepare(engine);
        engine.writesBeforeKill = write;
        EXPECT_FALSE(engine.runUnlessKilled()) << write;
        engine.writesBeforeKill = -1;
        EXPECT_TRUE(engine.runUnlessKilled()) << write;
        EXPECT_EQ(engine.tree(), undisturbed.tree()) << "killed after write " << write;
        EXPECT_EQ(engine.ledger.timed[source], 1) << "killed after write " << write;
    }
}

TEST(LiveActs, AnUndoneKernelMayBeGivenElsewhere)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Inject{taskRoot, "here", "own time=10\n"});
    engine.post(command::Undo{});
    engine.post(command::Inject{std::nullopt, "there", "own time=10\n"});
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_TRUE(engine.summary("here").pruned);
    EXPECT_EQ(engine.summary("there").outcome, Outcome::Passed) << engine.tree();
    ASSERT_TRUE(engine.open());
    engine.post(command::Inject{taskRoot, "again", "own time=10\n"});
    EXPECT_NE(lastRefusal(engine).find("(\"there\")"), std::string::npos) << lastRefusal(engine);
}

TEST(LiveActs, AnEditThatWasImplementedStaysAndTheActBeforeItIsNext)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Step{});
    engine.settle();
    engine.post(command::AddHint{"be brief"});
    engine.post(command::AddIdea{taskRoot, "mine", "first"});
    const NodeId mine = engine.idea("mine");
    engine.post(command::EditIdea{mine, "mine too", "second"});
    engine.post(command::Inject{mine, "own", "own time=10\n"});
    engine.post(command::Undo{});
    EXPECT_TRUE(engine.summary("own").pruned);
    engine.post(command::Undo{});
    EXPECT_NE(lastRefusal(engine).find("was implemented since its words were edited"), std::string::npos);
    engine.failures.clear();
    engine.post(command::Undo{});
    EXPECT_TRUE(engine.nodes.at(mine).pruned);
    engine.post(command::Undo{});
    EXPECT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    EXPECT_TRUE(engine.standing.back().hints.empty());
}

} // namespace
} // namespace espalier
