// SPDX-License-Identifier: Apache-2.0
// Acts that steer a session for good: budgets of branches, crossings, kills, another strategy.
#include "core/search/act_words.h"
#include "tests/engine/live_acts.h"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {
namespace {

TEST(LiveActs, NothingIsExpandedInABranchThatHasSpentItsBudget)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Step{});
    engine.settle();
    const NodeId vector = engine.idea("vector");
    const auto before = candidatesBelow(engine, vector).size();
    engine.post(command::SetBranchBudget{vector, {.evaluations = -1}});
    EXPECT_NE(lastRefusal(engine).find("cannot be negative"), std::string::npos);
    engine.post(command::SetBranchBudget{vector, {.evaluations = 3}});
    engine.run();
    EXPECT_EQ(candidatesBelow(engine, vector).size(), before + 3) << engine.tree();
    EXPECT_EQ(engine.nodes.at(vector).budget.evaluations, 3);
    EXPECT_EQ(engine.nodes.at(vector).branchSpent.evaluations, 3);
    EXPECT_EQ(engine.status.state, RunState::Finished);
    EXPECT_EQ(engine.status.why.find(fmt::format(
                  "nothing else is left to try: the limit of node {}'s branch is used up and ", vector.value)),
              0u)
        << engine.status.why;
    EXPECT_NE(
        engine.status.why.find(fmt::format("raise or lift it (steer budget --node {} --unlimited)", vector.value)),
        std::string::npos)
        << engine.status.why;

    // The same after a restart; more of it, and the search goes on there.
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.nodes.at(vector).branchSpent.evaluations, 3);
    engine.run();
    EXPECT_EQ(candidatesBelow(engine, vector).size(), before + 3) << engine.tree();
    engine.post(command::SetBranchBudget{vector, {.evaluations = 2}});
    EXPECT_EQ(engine.nodes.at(vector).branchSpent.evaluations, 0) << "from now on";
    engine.run();
    EXPECT_EQ(candidatesBelow(engine, vector).size(), before + 5) << engine.tree();
    engine.post(command::SetBranchBudget{vector, {}});
    engine.run();
    EXPECT_EQ(engine.status.evaluations, 17) << engine.tree();
    EXPECT_EQ(engine.status.why, "nothing is left to try: every idea of the proposers was tried");
}

TEST(LiveActs, TheEndCountsWhatTheEngineerKeptBack)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Step{});
    engine.settle();
    const NodeId vector = engine.idea("vector"), broken = engine.idea("broken");
    engine.post(command::SetPruned{vector, true});
    engine.post(command::SetBoost{broken, 0});
    engine.run();
    EXPECT_EQ(engine.status.why,
              fmt::format("nothing else is left to try: 1 idea is pruned (steer restore --node {} puts one "
                          "back); 1 idea is left out by a boost of 0 (steer boost --node {} --factor 1 takes "
                          "one in)",
                          vector.value, broken.value));
}

TEST(LiveActs, ABranchsBudgetChangesLimitByLimit)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Step{});
    engine.settle();
    const NodeId vector = engine.idea("vector");
    const auto before = candidatesBelow(engine, vector).size();
    engine.post(command::ChangeBranchBudget{vector, {.evaluations = 3}, {}});
    engine.run();
    EXPECT_EQ(engine.nodes.at(vector).branchSpent.evaluations, 3);
    engine.post(command::ChangeBranchBudget{vector, {.seconds = 1000}, {}});
    EXPECT_EQ(engine.nodes.at(vector).budget, (BranchBudget{.evaluations = 3, .seconds = 1000}));
    EXPECT_EQ(engine.nodes.at(vector).branchSpent.evaluations, 3) << "what was not named counts on";
    EXPECT_DOUBLE_EQ(engine.nodes.at(vector).branchSpent.seconds, 0) << "what was named counts from now";
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.nodes.at(vector).budget, (BranchBudget{.evaluations = 3, .seconds = 1000}));
    engine.run();
    EXPECT_EQ(candidatesBelow(engine, vector).size(), before + 3) << engine.tree();
    engine.post(command::ChangeBranchBudget{vector, {}, {"evaluations", "seconds"}});
    EXPECT_TRUE(engine.nodes.at(vector).budget.none());
    engine.post(command::Undo{});
    EXPECT_EQ(engine.nodes.at(vector).budget, (BranchBudget{.evaluations = 3, .seconds = 1000}));
    engine.post(command::ChangeBranchBudget{vector, {}, {"target"}});
    EXPECT_NE(lastRefusal(engine).find("A branch has no limit \"target\""), std::string::npos);
}

TEST(LiveActs, DeviceSecondsOfABranchAreCounted)
{
    EngineHarness engine; // the fake judge takes 1.5 s for a candidate that passes
    ASSERT_TRUE(engine.open());
    engine.post(command::Step{});
    engine.settle();
    const NodeId vector = engine.idea("vector");
    engine.post(command::SetBranchBudget{vector, {.seconds = 4}});
    engine.run();
    EXPECT_GE(engine.nodes.at(vector).branchSpent.seconds, 4) << engine.tree();
    const auto spent = candidatesBelow(engine, vector).size();
    EXPECT_GE(spent, 3u);
    EXPECT_LT(spent, 11u) << "what was under way when it ran out ends, and nothing more\n" << engine.tree();
    const double seconds = engine.nodes.at(vector).branchSpent.seconds;
    ASSERT_TRUE(engine.open());
    EXPECT_DOUBLE_EQ(engine.nodes.at(vector).branchSpent.seconds, seconds);
    engine.run();
    EXPECT_EQ(candidatesBelow(engine, vector).size(), spent) << engine.tree();
}

TEST(LiveActs, AKilledCandidateEndsAndDoesNotComeBack)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Inject{taskRoot, "slow one", "slow time=1\n"});
    const NodeId slow = engine.node("slow one");
    engine.post(command::Run{});
    turnUntil(engine, [&] { return engine.nodes.at(slow).runningStage == Stage::Verify; });
    engine.post(command::Kill{slow});
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    engine.settle();
    EXPECT_EQ(engine.nodes.at(slow).outcome, Outcome::NotRun);
    EXPECT_EQ(engine.nodes.at(slow).cause, NotRunCause::Cancelled);
    EXPECT_EQ(engine.nodes.at(slow).reason, "The engineer killed it.");
    EXPECT_EQ(engine.status.evaluations, 17) << "it counts for nothing, and everything else goes on\n" << engine.tree();
    EXPECT_EQ(engine.ledger.timed.count("slow time=1\n"), 0u);
    engine.post(command::Kill{slow});
    EXPECT_NE(lastRefusal(engine).find("has ended: there is nothing to kill"), std::string::npos);
    engine.post(command::Kill{taskRoot});
    EXPECT_NE(lastRefusal(engine).find("root cannot be killed"), std::string::npos);
    engine.post(command::Kill{engine.idea("vector")});
    EXPECT_NE(lastRefusal(engine).find("is an idea: kill one of its candidates"), std::string::npos);
    const std::string tree = engine.tree();
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.tree(), tree);
}

TEST(LiveActs, WhatWaitsOrIsBeingBuiltCanBeKilledToo)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Inject{taskRoot, "waiting", "waiting time=1\n"});
    engine.post(command::Kill{engine.node("waiting")}); // nothing runs yet
    engine.post(command::Inject{taskRoot, "built", "built time=1\n"});
    const NodeId built = engine.node("built");
    engine.post(command::Run{});
    turnUntil(engine, [&] { return engine.nodes.at(built).runningStage == Stage::Build; });
    engine.post(command::Kill{built});
    engine.settle();
    EXPECT_EQ(engine.summary("waiting").cause, NotRunCause::Cancelled);
    EXPECT_EQ(engine.summary("built").cause, NotRunCause::Cancelled);
    EXPECT_EQ(engine.ledger.compiled.count("waiting time=1\n"), 0u);
    EXPECT_EQ(engine.status.evaluations, 17) << engine.tree();
}

TEST(LiveActs, TwoKernelsAreCrossedNext)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.run();
    const NodeId registers = engine.node("registers");
    const auto tuned = std::find_if(engine.nodes.begin(), engine.nodes.end(), [](const auto& entry) {
        return entry.second.kind == NodeKind::Candidate && entry.second.proposer == "tuner";
    });
    ASSERT_NE(tuned, engine.nodes.end());
    const NodeId other = tuned->first; // it has the same tunables
    engine.post(command::CrossOver{registers, engine.node("warp")});
    EXPECT_NE(lastRefusal(engine).find("No proposer of this session can cross"), std::string::npos);
    engine.post(command::CrossOver{registers, registers});
    EXPECT_NE(lastRefusal(engine).find("cannot be crossed with itself"), std::string::npos);
    engine.post(command::CrossOver{registers, engine.node("broken")});
    EXPECT_NE(lastRefusal(engine).find("is no kernel that has passed"), std::string::npos);
    engine.failures.clear();
    const auto nodes = engine.nodes;
    engine.post(command::CrossOver{registers, other});
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    const NodeSummary idea = engine.nodes.rbegin()->second;
    ASSERT_FALSE(nodes.contains(idea.id));
    EXPECT_EQ(idea.parents, (std::vector<Edge>{{registers, EdgeRole::Primary}, {other, EdgeRole::Crossover}}));
    ASSERT_TRUE(engine.plan);
    EXPECT_TRUE(std::any_of(engine.plan->steps.begin(), engine.plan->steps.end(), [&](const PlannedStep& step) {
        return step.kind == PlannedStep::Next && step.node == idea.id && step.why == "the engineer crossed two kernels";
    }));
    engine.post(command::CrossOver{registers, other});
    EXPECT_NE(lastRefusal(engine).find("are crossed already"), std::string::npos);
    engine.post(command::Step{});
    engine.settle();
    EXPECT_EQ(candidatesBelow(engine, idea.id).size(), 1u) << engine.tree();
    engine.post(command::Undo{});
    EXPECT_TRUE(engine.nodes.at(idea.id).pruned) << "what grew leaves the search and stays visible";
}

TEST(LiveActs, AnotherStrategyTakesOverWhileItRuns)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    turnUntil(engine, [&] { return engine.status.evaluations >= 2; });
    engine.post(command::SetStrategy{"bream"});
    EXPECT_EQ(engine.failures.size(), 1u);
    engine.post(command::SetStrategy{"manual"});
    engine.settle();
    EXPECT_NE(engine.status.why.find("waits for the engineer"), std::string::npos) << engine.status.why;
    EXPECT_EQ(engine.info.strategy, "manual");
    EXPECT_EQ(engine.plan->strategy, "manual");
    const auto few = engine.status.evaluations;
    EXPECT_LT(few, 17);
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.info.strategy, "manual");
    engine.post(command::SetStrategy{"beam:width=2"});
    engine.run();
    EXPECT_GT(engine.status.evaluations, few);
}

TEST(LiveActs, ABudgetChangesWhereItIsNamedAndNowhereElse)
{
    EngineHarness engine;
    engine.options.budget = Budget{.evaluations = 40, .usd = 2, .target = 3, .roofPercent = 10};
    ASSERT_TRUE(engine.open());
    const auto change = [&engine](Budget set, std::vector<std::string> lift) {
        engine.post(command::ChangeBudget{set, std::move(lift)});
        engine.now += 1;
        engine.turn();
        return engine.status.budget;
    };
    EXPECT_EQ(change({.evaluations = 50}, {}), (Budget{.evaluations = 50, .usd = 2, .target = 3, .roofPercent = 10}));
    EXPECT_EQ(change({.seconds = 9, .plateau = 4}, {"usd", "roof"}),
              (Budget{.evaluations = 50, .seconds = 9, .target = 3, .plateau = 4}));
    EXPECT_EQ(change({.evaluations = 7}, {"evaluations", "seconds"}),
              (Budget{.evaluations = 7, .target = 3, .plateau = 4}))
        << "what is set holds";
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    change({}, {"evals"});
    EXPECT_EQ(lastRefusal(engine),
              "A session has no limit \"evals\": it has evaluations, seconds, usd, tokens, target, roof, plateau.");
    change({.usd = -1}, {});
    EXPECT_EQ(engine.failures.size(), 2u);
    engine.post(command::Undo{});
    engine.now += 1;
    engine.turn();
    EXPECT_EQ(engine.status.budget, (Budget{.evaluations = 50, .seconds = 9, .target = 3, .plateau = 4}));
    engine.drop();
    const auto acts = Store::open(engine.options.session, Store::Mode::ReadOnly).value()->acts().value();
    ASSERT_GE(acts.size(), 3u);
    EXPECT_EQ(actInWords(acts[1].what), "budget, 9 seconds, plateau 4, no limit of roof, no limit of usd");
}

TEST(LiveActs, WhatIsDoneToTheRunIsKeptLikeAnyAct)
{
    EngineHarness engine;
    engine.author = "ada";
    ASSERT_TRUE(engine.open());
    engine.post(command::Pause{}); // nothing runs: nothing is done
    engine.post(command::Step{});
    engine.settle();
    engine.post(command::Run{});
    engine.post(command::Run{}); // it runs already
    engine.post(command::Pause{});
    engine.settle();
    engine.post(command::AddHint{"be brief"});
    engine.post(command::JudgeAgain{taskRoot, Again::Verify});
    engine.post(command::Kill{taskRoot});
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    engine.settle();
    engine.post(command::Run{});
    engine.post(command::Stop{});
    engine.drop();
    const auto acts = [&engine] {
        return Store::open(engine.options.session, Store::Mode::ReadOnly).value()->acts().value();
    };
    std::vector<std::string> words;
    for (const StoredAct& act : acts()) {
        EXPECT_EQ(act.author, "ada");
        EXPECT_FALSE(act.at.empty());
        words.push_back(actInWords(act.what));
    }
    EXPECT_EQ(words, (std::vector<std::string>{"step with refine", "run with refine", "pause", "hint: be brief",
                                               "judge-again node 1: verify", "kill of judging again node 1",
                                               "run with refine", "stop"}));

    // Somebody else may take it back, also in a session whose acts were stored under the old constant name.
    engine.author = "bob";
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.nodes.at(taskRoot).outcome, Outcome::Passed)
        << "its verdict stands: only the second look was ended";
    engine.post(command::Undo{});
    EXPECT_TRUE(engine.standing.back().hints.empty());
    EXPECT_EQ(acts().back().author, "bob");
    EXPECT_EQ(actInWords(acts().back().what), "undo: hint: be brief");
}

TEST(LiveActs, ARunSaysByWhatItWent)
{
    EngineHarness engine;
    engine.options.strategy = "beam:width=2,tries=3";
    engine.options.budget = Budget{.evaluations = 2, .target = 50};
    ASSERT_TRUE(engine.open());
    engine.run();
    engine.drop();
    const auto acts = Store::open(engine.options.session, Store::Mode::ReadOnly).value()->acts().value();
    EXPECT_EQ(actInWords(acts.at(0).what), "run with beam width=2,tries=3, up to 2 evaluations, target 50x");
    EXPECT_EQ(actInWords(R"({"act":"run"})"), "run") << "as older sessions have it";
    EXPECT_EQ(actInWords(R"({"act":"step","budget":{}})"), "step");
}

TEST(LiveActs, ThePlanSaysWhatRunsWhatWaitsAndWhatIsOpen)
{
    EngineHarness engine;
    engine.secondsPerTurn = 0.1;
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    bool running = false, queued = false, next = false, open = false;
    for (int i = 0; i < 5000 && engine.status.state == RunState::Running; ++i) {
        engine.turn();
        for (const PlannedStep& step : engine.plan->steps) {
            running = running || (step.kind == PlannedStep::Running && !step.why.empty());
            queued = queued || step.kind == PlannedStep::Queued;
            next = next || (step.kind == PlannedStep::Next && !step.why.empty());
            open = open || step.kind == PlannedStep::Open;
        }
        EXPECT_LE(engine.plan->steps.size(), 50u);
        EXPECT_TRUE(std::is_sorted(engine.plan->steps.begin(), engine.plan->steps.end(),
                                   [](const auto& a, const auto& b) { return a.kind < b.kind; }));
    }
    EXPECT_TRUE(running && queued && next && open);
    engine.settle();
    EXPECT_EQ(engine.plan->strategy, "refine");
    EXPECT_TRUE(engine.plan->steps.empty()) << "nothing is left";
}

} // namespace
} // namespace espalier
