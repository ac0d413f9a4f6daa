// SPDX-License-Identifier: Apache-2.0
#include "core/propose/playbook_proposer.h"
#include "tests/engine/engine_harness.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace espalier {
namespace {

std::string treeOf(std::uint64_t seed, std::optional<unsigned> shuffle, std::int64_t evaluations = 14)
{
    EngineHarness engine;
    engine.options.seed = seed;
    engine.options.budget = Budget{evaluations, {}, {}};
    engine.shuffle = shuffle;
    EXPECT_TRUE(engine.open());
    engine.run();
    EXPECT_EQ(engine.status.state, RunState::Finished) << engine.status.why;
    return engine.tree();
}

TEST(Determinism, TheOrderOfTheBuildersDoesNotMatter)
{
    const std::string expected = treeOf(1, std::nullopt);
    for (unsigned shuffle = 0; shuffle < 25; ++shuffle) {
        ASSERT_EQ(treeOf(1, shuffle), expected) << shuffle;
    }
}

TEST(Determinism, AnotherSeedAnotherTree)
{
    EXPECT_NE(treeOf(1, std::nullopt), treeOf(2, std::nullopt));
    EXPECT_EQ(treeOf(2, std::nullopt), treeOf(2, 7));
}

/// A playbook that answers late and in any order, as a model behind a network does.
class LatePlaybook final : public Proposer
{
public:
    explicit LatePlaybook(unsigned seed) : m_random(seed) { m_signal.set(true); }
    std::string_view name() const override { return "playbook"; }
    void ideas(RequestId id, const IdeaContext& context) override { m_inner.ideas(id, context); }
    void implement(RequestId id, const ImplementContext& context) override { m_inner.implement(id, context); }
    void cancel(RequestId) override {}
    int descriptor() const override { return m_signal.fd(); }
    std::vector<proposer::Answer> receive() override
    {
        for (proposer::Answer& answer : m_inner.receive()) {
            m_held.push_back(std::move(answer));
        }
        std::vector<proposer::Answer> out;
        if (!m_held.empty() && m_random() % 3 == 0) {
            std::shuffle(m_held.begin(), m_held.end(), m_random);
            out.push_back(std::move(m_held.back()));
            m_held.pop_back();
        }
        return out;
    }

private:
    PlaybookProposer m_inner;
    std::mt19937 m_random;
    std::vector<proposer::Answer> m_held;
    Signal m_signal;
};

TEST(Determinism, TheOrderOfTheAnswersDoesNotMatter)
{
    std::string expected;
    for (unsigned seed = 0; seed < 12; ++seed) {
        EngineHarness engine;
        engine.shuffle = seed;
        engine.options.proposers = {"playbook"};
        engine.makeProposers = [seed](const auto&) -> Result<std::vector<std::unique_ptr<Proposer>>> {
            std::vector<std::unique_ptr<Proposer>> one;
            one.push_back(std::make_unique<LatePlaybook>(seed));
            return one;
        };
        // Two equal kernels, requested one after the other: which is the duplicate must not depend on who answers
        // first.
        engine.task.playbook.push_back({"again", "", "again", "the same", {"a.cu", "warp time=200\n"}});
        ASSERT_TRUE(engine.open());
        engine.run();
        EXPECT_EQ(engine.status.evaluations, 6);
        expected = expected.empty() ? engine.tree() : expected;
        ASSERT_EQ(engine.tree(), expected) << seed;
        EXPECT_EQ(engine.summary("again").cause, NotRunCause::NoSource);
    }
}

TEST(Determinism, LateAnswersSurviveAKill)
{
    std::string expected;
    for (int kill = 0; kill < 60; ++kill) {
        EngineHarness engine;
        engine.options.proposers = {"playbook"};
        engine.makeProposers = [](const auto&) -> Result<std::vector<std::unique_ptr<Proposer>>> {
            std::vector<std::unique_ptr<Proposer>> one;
            one.push_back(std::make_unique<LatePlaybook>(3));
            return one;
        };
        engine.writesBeforeKill = kill == 0 ? -1 : kill;
        if (!engine.runUnlessKilled()) {
            engine.writesBeforeKill = -1;
            ASSERT_TRUE(engine.runUnlessKilled());
        }
        expected = expected.empty() ? engine.tree() : expected;
        ASSERT_EQ(engine.tree(), expected) << "killed after write " << kill;
    }
}

} // namespace
} // namespace espalier
