// SPDX-License-Identifier: Apache-2.0
// Candidates whose texts differ and whose programs do not: the oldest is measured, the others say whose program they
// are.
#include "tests/engine/engine_harness.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

/// A kernel whose host part is `host` and whose code comes out as `code`.
std::string kernel(const std::string& host, const std::string& body, const std::string& code, int time)
{
    return "int " + host + "() { return 1; }\n__global__ void k(float* x) { " + body + " code=" + code +
           " time=" + std::to_string(time) + " ; }\n";
}

class Twins : public ::testing::Test
{
protected:
    void playbook(const std::vector<std::pair<std::string, std::string>>& kernels)
    {
        engine.task.playbook.clear();
        for (const auto& [id, source] : kernels) {
            engine.task.playbook.push_back({id, "", id, "do " + id, {id + ".cu", source}});
        }
    }
    int timed(const std::string& id) const
    {
        for (const PlaybookIdea& idea : engine.task.playbook) {
            if (idea.id == id) {
                for (const auto& [bytes, count] : engine.ledger.timed) {
                    if (bytes.starts_with(idea.source.text)) {
                        return count;
                    }
                }
            }
        }
        return 0;
    }

    EngineHarness engine;
};

TEST_F(Twins, OneProgramIsMeasuredOnce)
{
    playbook({{"first", kernel("h", "a", "same", 50)},
              {"other", kernel("h", "b", "different", 60)},
              {"twin", kernel("h", "c", "same", 50)},
              {"host", kernel("g", "d", "same", 55)}});
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(timed("first"), 1);
    EXPECT_EQ(timed("other"), 1);
    EXPECT_EQ(timed("twin"), 0);
    EXPECT_EQ(timed("host"), 1); // its launches may differ
    const NodeSummary& twin = engine.summary("twin");
    EXPECT_EQ(twin.outcome, Outcome::NotRun);
    EXPECT_EQ(twin.cause, NotRunCause::NoSource);
    EXPECT_EQ(twin.reason, "Compiled, it is the same program as node " + std::to_string(engine.node("first").value) +
                               " (\"first\"; ≈2.00x over the root): it is not measured twice.");
    EXPECT_EQ(engine.status.evaluations, 3);
    EXPECT_EQ(engine.status.state, RunState::Finished);
    engine.post(command::FetchDetail{twin.id});
    ASSERT_TRUE(engine.detail);
    ASSERT_FALSE(engine.detail->evaluation.evidence.empty());
    EXPECT_EQ(engine.detail->evaluation.evidence.back().check, "duplicate");
    EXPECT_TRUE(engine.detail->evaluation.build);
}

TEST_F(Twins, TheOldestIsMeasuredWhateverBuilderIsFirst)
{
    std::string tree;
    for (unsigned shuffle = 0; shuffle < 12; ++shuffle) {
        EngineHarness one;
        one.shuffle = shuffle;
        one.task.playbook.clear();
        for (int i = 0; i < 6; ++i) {
            const std::string id = "k" + std::to_string(i);
            one.task.playbook.push_back(
                {id, "", id, "do " + id, {id + ".cu", kernel("h", id, "code" + std::to_string(i % 2), 50 + i % 2)}});
        }
        ASSERT_TRUE(one.open());
        one.run();
        EXPECT_EQ(one.summary("k0").outcome, Outcome::Passed);
        EXPECT_EQ(one.summary("k1").outcome, Outcome::Passed);
        EXPECT_EQ(one.status.evaluations, 2) << one.tree();
        tree = tree.empty() ? one.tree() : tree;
        EXPECT_EQ(one.tree(), tree) << shuffle;
    }
}

TEST_F(Twins, AReopenedSessionKnowsThePrograms)
{
    playbook({{"first", kernel("h", "a", "same", 50)}, {"twin", kernel("h", "b", "same", 50)}});
    engine.options.budget = Budget{.evaluations = 1};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(timed("first"), 1);
    engine.options.budget = Budget{.evaluations = 5};
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(timed("twin"), 0);
    EXPECT_EQ(engine.summary("twin").cause, NotRunCause::NoSource) << engine.tree();
}

TEST_F(Twins, AProgramThatWasNotRunIsNoVerdict)
{
    playbook({{"first", kernel("h", "a outcome=not_run cause=unsupported ;", "same", 50)},
              {"twin", kernel("h", "b", "same", 50)}});
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.summary("first").outcome, Outcome::NotRun);
    EXPECT_EQ(engine.summary("twin").outcome, Outcome::Passed) << engine.tree();
}

TEST_F(Twins, ARejectedProgramIsRejectedOnce)
{
    playbook({{"first", kernel("h", "a outcome=incorrect ;", "same", 50)}, {"twin", kernel("h", "b", "same", 50)}});
    ASSERT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(timed("twin"), 0);
    EXPECT_NE(engine.summary("twin").reason.find("(\"first\"; incorrect)"), std::string::npos)
        << engine.summary("twin").reason;
}

TEST_F(Twins, APrunedOneIsNotWaitedFor)
{
    playbook({{"first", kernel("h", "a", "same", 50)}, {"twin", kernel("h", "b", "same", 50)}});
    ASSERT_TRUE(engine.open());
    engine.post(command::Run{});
    for (int i = 0; i < 1000 && engine.nodes.size() < 5; ++i) {
        engine.turn();
    }
    engine.post(command::SetPruned{engine.node("first"), true});
    engine.settle();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    EXPECT_EQ(engine.summary("twin").outcome == Outcome::Passed || timed("first") == 1, true) << engine.tree();
}

} // namespace
} // namespace espalier
