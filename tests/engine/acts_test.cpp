// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/engine_harness.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace espalier {
namespace {

/// A session whose root passed and whose first ideas stand in the tree; one candidate was evaluated.
void stepOnce(EngineHarness& engine)
{
    ASSERT_TRUE(engine.open());
    engine.post(command::Step{});
    engine.settle();
}

NodeId ideaNamed(const EngineHarness& engine, const std::string& title)
{
    for (const auto& [id, node] : engine.nodes) {
        if (node.kind == NodeKind::Idea && node.title == title) {
            return id;
        }
    }
    ADD_FAILURE() << "no idea " << title;
    return NodeId{0};
}

std::vector<NodeId> childrenOf(const EngineHarness& engine, NodeId parent)
{
    std::vector<NodeId> children;
    for (const auto& [id, node] : engine.nodes) {
        if (!node.parents.empty() && node.parents.front().parent == parent) {
            children.push_back(id);
        }
    }
    return children;
}

TEST(Acts, APrunedIdeaIsNotImplementedUntilItIsRestored)
{
    EngineHarness engine;
    stepOnce(engine);
    const NodeId vector = ideaNamed(engine, "vector");
    engine.post(command::SetPruned{vector, true});
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_TRUE(childrenOf(engine, vector).empty()) << engine.tree();
    EXPECT_TRUE(engine.nodes.at(vector).pruned);
    EXPECT_EQ(engine.status.evaluations, 2); // warp and broken
    engine.post(command::SetPruned{vector, false});
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 17) << engine.tree();
}

TEST(Acts, PruningWhileItRunsTakesTheSubtreeOut)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    while (engine.status.evaluations < 1) {
        engine.turn();
    }
    const NodeId vector = ideaNamed(engine, "vector");
    engine.post(command::SetPruned{vector, true});
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_LE(engine.status.evaluations, 3);
    for (const auto& [id, node] : engine.nodes) {
        EXPECT_NE(node.state, NodeState::Running);
    }
    engine.post(command::SetPruned{vector, false});
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 17) << engine.tree();
}

TEST(Acts, APrunedBestIsNoLongerTheBest)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.run();
    const NodeId best = *engine.status.best;
    engine.post(command::SetPruned{best, true});
    engine.now += 1;
    engine.turn();
    ASSERT_TRUE(engine.status.best);
    EXPECT_NE(*engine.status.best, best);
}

TEST(Acts, TheRootCannotBePruned)
{
    EngineHarness engine;
    stepOnce(engine);
    engine.post(command::SetPruned{NodeId{1}, true});
    ASSERT_EQ(engine.failures.size(), 1u);
    EXPECT_EQ(engine.failures[0].error.message, "The task's root cannot be pruned: everything is compared with it.");
}

TEST(Acts, PinsAndBoostsAreStored)
{
    EngineHarness engine;
    stepOnce(engine);
    engine.post(command::SetPinned{NodeId{2}, true});
    engine.post(command::SetBoost{NodeId{3}, 2.5});
    engine.post(command::SetBoost{NodeId{3}, -1});
    engine.post(command::SetPinned{NodeId{99}, true});
    ASSERT_EQ(engine.failures.size(), 2u);
    EXPECT_EQ(engine.failures[1].error.message, "The session has no node 99.");
    ASSERT_TRUE(engine.open());
    EXPECT_TRUE(engine.nodes.at(NodeId{2}).pinned);
    EXPECT_EQ(engine.nodes.at(NodeId{3}).boost, 2.5);
}

TEST(Acts, ABoostChangesTheOrder)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    while (engine.nodes.size() < 2) {
        engine.turn();
    }
    engine.post(command::Stop{});
    // The first of the root's ideas would be warp; without a boost it comes first, with one vector does.
    EngineHarness boosted;
    stepOnce(boosted);
    EXPECT_EQ(childrenOf(boosted, ideaNamed(boosted, "broken")).size(), 0u);
    boosted.post(command::SetBoost{ideaNamed(boosted, "broken"), 5});
    boosted.post(command::Step{});
    boosted.settle();
    EXPECT_EQ(childrenOf(boosted, ideaNamed(boosted, "broken")).size(), 1u) << boosted.tree();
}

TEST(Acts, AStepIsNotDoneWhileItsKernelWaitsForABuilder)
{
    for (const int builders : {1, 2, 3}) { // busy with what may be asked for next
        for (const unsigned seed : {1u, 2u, 3u, 4u, 5u}) {
            EngineHarness engine;
            engine.builders = builders;
            engine.shuffle = seed;
            ASSERT_TRUE(engine.open());
            for (int steps = 1; steps <= 3; ++steps) {
                engine.post(command::Step{});
                engine.settle();
                EXPECT_EQ(engine.status.evaluations, steps) << builders << " builders, seed " << seed << "\n"
                                                            << engine.tree();
            }
        }
    }
}

TEST(Acts, AStepAfterAPauseJudgesOneOfWhatWaits)
{
    for (const bool reopened : {false, true}) {
        EngineHarness engine;
        engine.builders = 4;
        ASSERT_TRUE(engine.open());
        engine.post(command::Run{});
        const auto queued = [&] {
            return std::count_if(engine.nodes.begin(), engine.nodes.end(), [](const auto& entry) {
                return entry.second.kind == NodeKind::Candidate && entry.second.state != NodeState::Done;
            });
        };
        while (queued() < 3) {
            engine.turn();
        }
        engine.post(command::Pause{});
        engine.settle();
        if (reopened) {
            engine.drop();
            ASSERT_TRUE(engine.open());
        }
        ASSERT_GE(queued(), 2) << engine.tree();
        for (int step = 0; step < 2; ++step) {
            const auto before = engine.status.evaluations;
            const auto waiting = queued();
            const std::size_t nodes = engine.nodes.size();
            engine.post(command::Step{});
            engine.settle();
            EXPECT_EQ(engine.status.state, RunState::Paused);
            EXPECT_EQ(engine.status.evaluations, before + 1) << engine.tree();
            EXPECT_EQ(queued(), waiting - 1) << "one of what waited";
            EXPECT_EQ(engine.nodes.size(), nodes) << "and nothing new was thought of";
        }
    }
}

TEST(Acts, AnOwnKernelIsEvaluatedUnderItsParent)
{
    EngineHarness engine;
    stepOnce(engine);
    engine.post(command::AddIdea{NodeId{1}, "my idea", "by hand"});
    const NodeId idea = ideaNamed(engine, "my idea");
    EXPECT_EQ(engine.nodes.at(idea).state, NodeState::Draft);
    engine.post(command::EditIdea{idea, "my better idea", "by hand"});
    engine.post(command::Inject{idea, "mine", "mine time=10\n"});
    engine.post(command::EditIdea{idea, "too late", ""});
    ASSERT_EQ(engine.failures.size(), 1u);
    EXPECT_EQ(engine.failures[0].what, "edit");
    engine.run();
    const NodeSummary& mine = engine.summary("mine");
    EXPECT_EQ(mine.parents.front().parent, idea);
    EXPECT_EQ(mine.outcome, Outcome::Passed);
    EXPECT_EQ(engine.nodes.at(idea).state, NodeState::Done);
    EXPECT_EQ(engine.nodes.at(idea).title, "my better idea");
    EXPECT_EQ(engine.status.best, mine.id);
    EXPECT_EQ(engine.finished.back().bestFoundBy, "engineer");
    EXPECT_EQ(engine.status.evaluations, 18);
}

TEST(Acts, AnIdeaOfThePlaybookIsEditedOnlyWhereSomebodyWritesWhatItSays)
{
    EngineHarness engine;
    stepOnce(engine);
    const NodeId broken = ideaNamed(engine, "broken");
    engine.post(command::EditIdea{broken, "broken", "do it otherwise"});
    ASSERT_EQ(engine.failures.size(), 1u);
    EXPECT_EQ(
        engine.failures[0].error.message,
        fmt::format("The playbook implements its own ideas only, as it has them: add a proposer that writes kernels "
                    "(steer proposers add llm) to change what node {} says, or inject a kernel of your own under it.",
                    broken.value));
    engine.post(command::EditIdea{broken, "the broken one", "do broken"}); // another name for the same
    EXPECT_EQ(engine.failures.size(), 1u);
    engine.run();
    EXPECT_EQ(engine.nodes.at(broken).title, "the broken one");
    EXPECT_EQ(childrenOf(engine, broken).size(), 1u) << engine.tree();
}

TEST(Acts, AKernelUnderAnIdeaOfThePlaybookLeavesItsOwnToBeTried)
{
    EngineHarness engine;
    stepOnce(engine);
    const NodeId broken = ideaNamed(engine, "broken");
    engine.post(command::Inject{broken, "mine", "mine time=90\n"});
    const NodeId mine = engine.node("mine");
    engine.post(command::FetchDetail{mine});
    EXPECT_EQ(engine.detail->why, "the engineer's own kernel");
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.nodes.at(mine).outcome, Outcome::Passed);
    const std::vector<NodeId> children = childrenOf(engine, broken);
    ASSERT_EQ(children.size(), 2u) << engine.tree();
    EXPECT_EQ(engine.nodes.at(children[1]).proposer, "playbook");
    EXPECT_EQ(engine.nodes.at(children[1]).outcome, Outcome::BuildFailed) << "its own kernel";
    EXPECT_EQ(engine.nodes.at(broken).state, NodeState::Done);
    EXPECT_EQ(engine.status.evaluations, 18) << engine.tree();
    engine.post(command::FetchDetail{mine});
    EXPECT_EQ(engine.detail->why, "the engineer's own kernel");
}

TEST(Acts, WhatIsPinnedIsProtected)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.run();
    const NodeId registers = engine.node("registers"), vector = engine.idea("vector");
    engine.post(command::SetPinned{registers, true});
    engine.post(command::SetPruned{registers, true});
    engine.post(command::SetPruned{vector, true});
    ASSERT_EQ(engine.failures.size(), 2u);
    EXPECT_EQ(engine.failures[0].error.message,
              fmt::format("Node {} is pinned, and so protected: unpin it first.", registers.value));
    EXPECT_EQ(engine.failures[1].error.message,
              fmt::format("Node {} below is pinned, and so protected: unpin it first.", registers.value));
    EXPECT_FALSE(engine.nodes.at(vector).pruned);
    engine.post(command::Inject{NodeId{1}, "mine", "mine time=10\n"});
    const NodeId mine = engine.node("mine");
    engine.post(command::SetPinned{mine, true});
    engine.post(command::Kill{mine});
    EXPECT_EQ(engine.failures.back().error.message,
              fmt::format("Node {} is pinned, and so protected: unpin it first.", mine.value));
    engine.post(command::SetPinned{mine, false});
    engine.post(command::Kill{mine});
    engine.post(command::SetPinned{registers, false});
    engine.post(command::SetPruned{vector, true});
    EXPECT_EQ(engine.failures.size(), 3u);
    EXPECT_TRUE(engine.nodes.at(vector).pruned);
    EXPECT_EQ(engine.nodes.at(mine).cause, NotRunCause::Cancelled);
}

TEST(Acts, AKernelWithoutParentIsAnotherRoot)
{
    EngineHarness engine;
    stepOnce(engine);
    engine.post(command::Inject{std::nullopt, "incumbent", "incumbent time=70\n"});
    engine.run();
    EXPECT_EQ(engine.summary("incumbent").kind, NodeKind::Root);
    EXPECT_EQ(engine.summary("incumbent").outcome, Outcome::Passed);
    EXPECT_NEAR(engine.summary("incumbent").speedupRoot->value, 100.0 / 70, 1e-9);
}

TEST(Acts, WhatCannotBeInjectedIsAnsweredWithOneSentence)
{
    EngineHarness engine;
    stepOnce(engine);
    engine.post(command::Inject{NodeId{1}, "copy", "root   time=100 // copied\n"});
    engine.post(command::Inject{NodeId{1}, "empty", "  \n"});
    engine.post(command::Inject{NodeId{99}, "lost", "x time=1\n"});
    engine.post(command::AddIdea{NodeId{2}, "idea under an idea", ""});
    engine.post(command::AddIdea{NodeId{1}, " ", ""});
    std::vector<std::string> sentences;
    for (const auto& failure : engine.failures) {
        sentences.push_back(failure.error.message);
    }
    EXPECT_EQ(sentences, (std::vector<std::string>{
                             "The session has this kernel already: it is node 1 (\"root\").",
                             "The kernel to inject is empty: give a whole .cu source.",
                             "The session has no node 99.",
                             "Node 2 is an idea: add the new one under a root or a candidate.",
                             "The idea has no title: give it a few words.",
                         }));
}

TEST(Acts, AnIdeaOfTheEngineersWaitsAndDoesNotHoldTheRun)
{
    EngineHarness engine;
    stepOnce(engine);
    engine.post(command::AddIdea{NodeId{1}, "later", "some day"});
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.nodes.at(ideaNamed(engine, "later")).state, NodeState::Draft);
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.nodes.at(ideaNamed(engine, "later")).state, NodeState::Draft);
}

TEST(Acts, DetailHoldsSourcesAndRecords)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.run();
    engine.post(command::FetchDetail{engine.node("registers")});
    ASSERT_TRUE(engine.detail);
    EXPECT_EQ(engine.detail->source, engine.task.playbook[3].source.text);
    EXPECT_EQ(engine.detail->parentSource, engine.task.playbook[1].source.text);
    EXPECT_EQ(engine.detail->parentCandidate, engine.node("vector"));
    EXPECT_EQ(engine.detail->ideaText, "do registers");
    EXPECT_TRUE(engine.detail->evaluation.build);
    EXPECT_TRUE(engine.detail->evaluation.verify);
    EXPECT_TRUE(engine.detail->evaluation.timing);
    engine.post(command::FetchDetail{NodeId{99}});
    EXPECT_EQ(engine.failures.back().error.message, "The session has no node 99.");
}

TEST(Acts, ExportWritesThePassedAndRefusesTheRejected)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.run();
    const auto folder = ScratchFolder::create("export").value();
    engine.post(command::Export{*engine.status.best, "cuda", (folder.path() / "out").string()});
    EXPECT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    EXPECT_GE(engine.exported.size(), 3u);
    engine.post(command::Export{engine.node("cluster"), "cuda", (folder.path() / "out").string()});
    EXPECT_EQ(engine.failures.size(), 1u);
}

TEST(Acts, ReproWritesOneProgramThatRunsTheKernel)
{
    EngineHarness engine;
    TaskCase timed;
    timed.id = "large";
    timed.roles = {CaseRole::Time};
    engine.task.cases = {timed};
    ASSERT_TRUE(engine.open());
    const auto folder = ScratchFolder::create("repro").value();
    engine.post(command::Repro{taskRoot, folder.path().string()});
    ASSERT_TRUE(engine.failures.empty()) << engine.failures[0].error.message;
    ASSERT_EQ(engine.repros.size(), 1u);
    EXPECT_EQ(engine.repros[0].node, taskRoot);
    EXPECT_EQ(engine.repros[0].compiler, "/usr/local/cuda/bin/nvcc");
    const std::string program = readFile(engine.repros[0].file).value();
    EXPECT_NE(program.find(engine.task.root.text), std::string::npos);
    EXPECT_NE(program.find("int main("), std::string::npos);
    engine.post(command::Repro{NodeId{99}, folder.path().string()});
    EXPECT_EQ(engine.failures.back().error.message, "The session has no node 99.");
    engine.post(command::Repro{taskRoot, (folder.path() / "missing" / "folder").string()});
    EXPECT_EQ(engine.failures.size(), 2u);
}

TEST(Acts, AnOverturnedVerdictIsKeptBesideTheJudges)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.run();
    const NodeId best = *engine.status.best;
    const NodeId wrong = engine.node("cluster");
    ASSERT_EQ(engine.nodes.at(wrong).outcome, Outcome::Incorrect);
    engine.post(command::Overturn{wrong, true, " "});
    EXPECT_NE(engine.failures.back().error.message.find("needs a reason"), std::string::npos);
    engine.post(command::Overturn{taskRoot, false, "no"});
    EXPECT_NE(engine.failures.back().error.message.find("root cannot be overturned"), std::string::npos);
    engine.post(command::Overturn{engine.node("broken"), true, "it builds elsewhere"});
    EXPECT_NE(engine.failures.back().error.message.find("has no verdict of the judge's"), std::string::npos);
    const std::size_t refused = engine.failures.size();

    engine.post(command::Overturn{wrong, true, "the oracle was wrong"});
    engine.post(command::Overturn{best, false, "reads beyond its rows"});
    EXPECT_EQ(engine.failures.size(), refused);
    engine.turn();
    const auto check = [&] {
        ASSERT_TRUE(engine.nodes.at(wrong).overturned && engine.nodes.at(best).overturned);
        EXPECT_EQ(engine.nodes.at(wrong).outcome, Outcome::Passed);
        EXPECT_EQ(engine.nodes.at(wrong).overturned->judged, Outcome::Incorrect);
        EXPECT_EQ(engine.nodes.at(wrong).overturned->reason, "the oracle was wrong");
        EXPECT_EQ(engine.nodes.at(wrong).overturned->author, "engineer");
        EXPECT_FALSE(engine.nodes.at(wrong).overturned->at.empty());
        EXPECT_EQ(engine.nodes.at(best).outcome, Outcome::Incorrect);
        EXPECT_EQ(engine.nodes.at(best).overturned->judged, Outcome::Passed);
        EXPECT_NE(engine.status.best, best) << "what a person rejects is not the best";
        EXPECT_NE(engine.status.best, wrong) << "what was never timed has no rank";
    };
    check();
    engine.drop();
    ASSERT_TRUE(engine.open());
    engine.turn();
    check();
    engine.post(command::FetchDetail{wrong});
    ASSERT_TRUE(engine.detail);
    EXPECT_EQ(engine.detail->evaluation.outcome, Outcome::Incorrect) << "the judge's own verdict stays in the record";
    engine.post(command::Overturn{best, true, "looked again: it does not"});
    engine.turn();
    EXPECT_EQ(engine.status.best, best);
    EXPECT_EQ(engine.nodes.at(best).overturned->judged, Outcome::Passed);
}

TEST(Acts, AnOverturnIsTakenBackAndTheOneBeforeItStands)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.run();
    const NodeId best = *engine.status.best;
    engine.post(command::Ban{"no fp16", ""});
    engine.post(command::Overturn{best, false, "reads beyond its rows"});
    engine.post(command::Overturn{best, false, "and writes"});
    engine.drop(); // what can be taken back is in the session
    ASSERT_TRUE(engine.open());
    engine.post(command::Undo{});
    engine.turn();
    ASSERT_TRUE(engine.nodes.at(best).overturned);
    EXPECT_EQ(engine.nodes.at(best).overturned->reason, "reads beyond its rows");
    EXPECT_EQ(engine.nodes.at(best).overturned->author, "engineer");
    EXPECT_NE(engine.status.best, best);
    engine.post(command::Undo{});
    engine.turn();
    const auto judgesOwn = [&] {
        EXPECT_FALSE(engine.nodes.at(best).overturned);
        EXPECT_EQ(engine.nodes.at(best).outcome, Outcome::Passed);
        EXPECT_EQ(engine.status.best, best);
        EXPECT_EQ(engine.standing.back().bans.size(), 1u) << "an older act stays";
    };
    judgesOwn();
    engine.drop();
    ASSERT_TRUE(engine.open());
    engine.turn();
    judgesOwn();
}

} // namespace
} // namespace espalier
