// SPDX-License-Identifier: Apache-2.0
// kill -9 after every single write to the session: the reopened run must end with the same tree, and no stage that was
// finished may be done again.
#include "tests/engine/engine_harness.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace espalier {
namespace {

struct Undisturbed {
    std::string tree;
    int writes;
};

Undisturbed undisturbed(std::optional<unsigned> shuffle)
{
    EngineHarness engine;
    engine.shuffle = shuffle;
    engine.options.budget = Budget{13, {}, {}};
    EXPECT_TRUE(engine.runUnlessKilled());
    return {engine.tree(), engine.writes};
}

void expectNothingTwice(const FakeLedger& ledger, const std::string& where)
{
    for (const auto* counts : {&ledger.compiled, &ledger.verified, &ledger.timed}) {
        for (const auto& [source, count] : *counts) {
            EXPECT_EQ(count, 1) << where << ": " << source;
        }
    }
}

void killAt(int write, std::optional<unsigned> shuffle, const Undisturbed& expected)
{
    const std::string where = "killed after write " + std::to_string(write);
    EngineHarness engine;
    engine.shuffle = shuffle;
    engine.options.budget = Budget{13, {}, {}};
    engine.writesBeforeKill = write;
    EXPECT_FALSE(engine.runUnlessKilled()) << where;
    for (const StoredNode& node : engine.storedNodes()) {
        EXPECT_NE(node.state, NodeState::Running) << where;
    }
    engine.writesBeforeKill = -1;
    EXPECT_TRUE(engine.runUnlessKilled()) << where;
    EXPECT_EQ(engine.tree(), expected.tree) << where;
    expectNothingTwice(engine.ledger, where);
}

TEST(Kill, AfterAnyWriteTheSameTreeComesOut)
{
    const Undisturbed expected = undisturbed(std::nullopt);
    ASSERT_GT(expected.writes, 50);
    for (int write = 1; write <= expected.writes && !::testing::Test::HasFailure(); ++write) {
        killAt(write, std::nullopt, expected);
    }
}

TEST(Kill, AlsoWhenBuildersEndInAnyOrder)
{
    const Undisturbed expected = undisturbed(5);
    for (int write = 2; write <= expected.writes && !::testing::Test::HasFailure(); write += 3) {
        killAt(write, 5, expected);
    }
}

/// On a measured device what reaches the best is timed in the full tier before anything is decided by it, and its
/// figure may be another there. What is measured again at the end is no part of the decisions.
TEST(Kill, AlsoWhileTheFrontIsTimedInFull)
{
    const auto prepare = [](EngineHarness& engine) {
        engine.hello.simulated = false;
        engine.options.budget = Budget{13, {}, {}};
        for (PlaybookIdea& idea : engine.task.playbook) {
            idea.source.text += "again=" + std::to_string(fakeTime(idea.source.text) * 1.3) + " \n";
        }
    };
    const auto said = [](const EngineHarness& engine, const char* words) {
        return std::count_if(engine.log.begin(), engine.log.end(),
                             [&](const std::string& line) { return line.find(words) != std::string::npos; });
    };
    EngineHarness undisturbed;
    prepare(undisturbed);
    ASSERT_TRUE(undisturbed.open());
    undisturbed.post(command::Run{});
    while (said(undisturbed, "measured again") == 0 && undisturbed.status.state != RunState::Finished) {
        undisturbed.turn();
    }
    const int writes = undisturbed.writes;
    undisturbed.run();
    ASSERT_GE(said(undisturbed, "reaches the best"), 2) << undisturbed.tree();
    for (int write = 1; write <= writes && !::testing::Test::HasFailure(); ++write) {
        EngineHarness engine;
        prepare(engine);
        engine.writesBeforeKill = write;
        EXPECT_FALSE(engine.runUnlessKilled()) << write;
        engine.writesBeforeKill = -1;
        EXPECT_TRUE(engine.runUnlessKilled()) << write;
        EXPECT_EQ(engine.tree(), undisturbed.tree()) << "killed after write " << write;
    }
}

TEST(Kill, AgainAndAgain)
{
    const Undisturbed expected = undisturbed(std::nullopt);
    EngineHarness engine;
    engine.options.budget = Budget{13, {}, {}};
    int kills = 0;
    do {
        engine.writesBeforeKill = 3;
        ++kills;
        ASSERT_LT(kills, 400);
    } while (!engine.runUnlessKilled());
    EXPECT_GT(kills, 10);
    EXPECT_EQ(engine.tree(), expected.tree);
    expectNothingTwice(engine.ledger, "killed every third write");
}

TEST(Kill, BetweenTurnsAsWell)
{
    const Undisturbed expected = undisturbed(std::nullopt);
    for (int turns = 0; turns < 70; turns += 3) {
        EngineHarness engine;
        engine.options.budget = Budget{13, {}, {}};
        ASSERT_TRUE(engine.open());
        engine.post(command::Run{});
        for (int i = 0; i < turns; ++i) {
            engine.turn();
        }
        engine.drop();
        ASSERT_TRUE(engine.runUnlessKilled());
        ASSERT_EQ(engine.tree(), expected.tree) << turns;
        expectNothingTwice(engine.ledger, "dropped after turn " + std::to_string(turns));
    }
}

} // namespace
} // namespace espalier
