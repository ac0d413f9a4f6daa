// SPDX-License-Identifier: Apache-2.0
// What the engineer bans: held by the judge, out of the search, free again when the ban is lifted.
#include "tests/engine/live_acts.h"

namespace espalier {
namespace {

TEST(LiveActs, ABanIsHeldForEveryCandidateJudgedFromThenOn)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Ban{"no fp16", "half == 0"});
    EXPECT_NE(lastRefusal(engine).find("\"half == 0\" is no predicate: write one such as \"fp16_instructions == 0\""),
              std::string::npos)
        << lastRefusal(engine);
    engine.post(command::Ban{" ", ""});
    EXPECT_NE(lastRefusal(engine).find("say what is not wanted"), std::string::npos);
    engine.failures.clear();
    engine.task.playbook[1].source.text = "vector time=80 uses=half\n";
    ASSERT_TRUE(engine.open());
    engine.post(command::Ban{"no fp16", "fp16_instructions==0"});
    engine.post(command::Ban{"no trickery", ""});
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    ASSERT_FALSE(engine.standing.empty());
    EXPECT_EQ(engine.standing.back().bans,
              (std::vector<BannedTechnique>{{"no fp16", "fp16_instructions == 0"}, {"no trickery", ""}}));
    engine.run();
    const NodeSummary& vector = engine.summary("vector");
    EXPECT_EQ(vector.outcome, Outcome::Incorrect) << engine.tree();
    EXPECT_EQ(vector.reason, "the kernel main has fp16_instructions 1; the engineer's ban \"no fp16\" says "
                             "fp16_instructions == 0");
    EXPECT_EQ(engine.summary("warp").outcome, Outcome::Passed);
    EXPECT_EQ(engine.ledger.verified.count("vector time=80 uses=half\n"), 0u) << "nothing of it has run";
    engine.post(command::FetchDetail{vector.id});
    ASSERT_FALSE(engine.detail->evaluation.evidence.empty());
    EXPECT_EQ(engine.detail->evaluation.evidence.back().check, "ban");

    // It stays over a restart, and is lifted by number.
    const std::string tree = engine.tree();
    ASSERT_TRUE(engine.open());
    EXPECT_EQ(engine.tree(), tree);
    EXPECT_EQ(engine.standing.back().bans.size(), 2u);
    engine.post(command::LiftBan{3});
    EXPECT_EQ(lastRefusal(engine), "There is no ban 3: the session has 1 \"no fp16\", 2 \"no trickery\".");
    engine.post(command::LiftBan{1});
    EXPECT_EQ(engine.standing.back().bans, (std::vector<BannedTechnique>{{"no trickery", ""}}));
    engine.post(command::Inject{taskRoot, "again", "again time=70 uses=half\n"});
    engine.run();
    EXPECT_EQ(engine.summary("again").outcome, Outcome::Passed);
}

TEST(LiveActs, ABanMeetsWhatWaitsForTheJudgeAndSparesTheRoot)
{
    EngineHarness engine;
    engine.task.root.text = "root time=100 registers=200\n";
    ASSERT_TRUE(engine.open());
    engine.post(command::Inject{taskRoot, "wide", "wide time=10 registers=200\n"});
    engine.post(command::Run{});
    turnUntil(engine, [&] { return engine.status.waiting > 0; });
    ASSERT_NE(engine.summary("wide").state, NodeState::Done);
    engine.post(command::Ban{"", "registers <= 128"});
    engine.settle();
    EXPECT_EQ(engine.nodes.at(taskRoot).outcome, Outcome::Passed);
    EXPECT_EQ(engine.summary("wide").outcome, Outcome::Incorrect) << engine.tree();
    EXPECT_NE(engine.summary("wide").reason.find("the engineer's ban \"registers <= 128\" says"), std::string::npos);
}

TEST(LiveActs, ABanTakesWhatIsThereOutOfTheSearchUntilItIsLifted)
{
    EngineHarness engine;
    engine.task.playbook[1].source.text =
        "vector time=80 uses=half\n"; // registers stands on it, and the tuner on registers
    ASSERT_TRUE(engine.open());
    engine.run(Budget{3, {}, {}});
    const NodeId vector = engine.node("vector");
    ASSERT_EQ(engine.status.best, vector) << engine.tree();
    const auto below = candidatesBelow(engine, vector).size();
    engine.post(command::Ban{"no fp16", "fp16_instructions == 0"});
    const auto check = [&] {
        EXPECT_EQ(engine.nodes.at(vector).banned,
                  "the kernel main has fp16_instructions 1; the engineer's ban \"no fp16\" "
                  "says fp16_instructions == 0");
        EXPECT_EQ(engine.nodes.at(vector).outcome, Outcome::Passed) << "the judge's verdict stays";
        EXPECT_EQ(engine.nodes.at(vector).reason, "");
        EXPECT_EQ(engine.status.best, taskRoot);
    };
    check();
    engine.post(command::Undo{});
    EXPECT_EQ(engine.nodes.at(vector).banned, "");
    EXPECT_EQ(engine.status.best, vector);
    engine.post(command::Ban{"no fp16", "fp16_instructions == 0"});
    check();
    engine.run(Budget{100, {}, {}});
    EXPECT_EQ(candidatesBelow(engine, vector).size(), below) << "it is no parent\n" << engine.tree();
    EXPECT_NE(engine.finished.back().best, vector);
    engine.post(command::CrossOver{vector, taskRoot});
    EXPECT_NE(lastRefusal(engine).find("is banned (the kernel main has"), std::string::npos) << lastRefusal(engine);
    engine.failures.clear();
    ASSERT_TRUE(engine.open());
    engine.turn();
    check();
    engine.run();
    EXPECT_EQ(candidatesBelow(engine, vector).size(), below) << engine.tree();

    engine.post(command::LiftBan{1});
    ASSERT_TRUE(engine.failures.empty()) << lastRefusal(engine);
    EXPECT_EQ(engine.nodes.at(vector).banned, "");
    EXPECT_EQ(engine.status.best, vector);
    engine.run();
    EXPECT_GT(candidatesBelow(engine, vector).size(), below) << engine.tree();
    EXPECT_EQ(engine.status.evaluations, 17) << engine.tree();
}

TEST(LiveActs, WhatIsAtTheJudgeWhenABanComesIsHeldToItToo)
{
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Inject{taskRoot, "wide", "wide time=10 registers=200\n"});
    const NodeId wide = engine.node("wide");
    engine.post(command::Run{});
    turnUntil(engine, [&] { return engine.nodes.at(wide).runningStage >= Stage::Verify; });
    engine.post(command::Ban{"", "registers <= 128"});
    engine.settle();
    EXPECT_EQ(engine.nodes.at(wide).outcome, Outcome::Passed) << engine.tree();
    EXPECT_NE(engine.nodes.at(wide).banned.find("the engineer's ban \"registers <= 128\" says"), std::string::npos);
    EXPECT_TRUE(candidatesBelow(engine, wide).empty()) << engine.tree();
    EXPECT_NE(engine.status.best, wide);
}

TEST(LiveActs, AKernelThatEndedByABanCanComeAgainWhenItIsLifted)
{
    const std::string source = "half time=20 uses=half\n";
    EngineHarness engine;
    ASSERT_TRUE(engine.open());
    engine.post(command::Ban{"no fp16", "fp16_instructions == 0"});
    engine.post(command::Inject{taskRoot, "first", source});
    engine.run();
    ASSERT_EQ(engine.summary("first").outcome, Outcome::Incorrect);
    ASSERT_TRUE(engine.open());
    engine.post(command::Inject{taskRoot, "too early", source});
    EXPECT_NE(lastRefusal(engine).find("The session has this kernel already: it is node"), std::string::npos);
    engine.post(command::LiftBan{1});
    engine.post(command::Inject{taskRoot, "second", source});
    engine.run();
    EXPECT_EQ(engine.summary("second").outcome, Outcome::Passed) << engine.tree();
    EXPECT_EQ(engine.status.best, engine.node("second"));

    // The one that was judged stands for the kernel, whatever is banned when the session is opened.
    engine.post(command::Ban{"no fp16", "fp16_instructions == 0"});
    ASSERT_TRUE(engine.open());
    engine.post(command::LiftBan{1});
    engine.failures.clear();
    engine.post(command::Inject{taskRoot, "third", source});
    EXPECT_NE(lastRefusal(engine).find("(\"second\")"), std::string::npos) << lastRefusal(engine);
}

} // namespace
} // namespace espalier
