// SPDX-License-Identifier: Apache-2.0
#include "core/search/renewed_figures.h"

#include "core/base/file.h"
#include "core/search/record_merge.h"
#include "core/search/search_tree.h"

#include <cmath>
#include <gtest/gtest.h>

namespace espalier {
namespace {

CaseTiming timed(const char* id, double us, double overRoot, std::optional<double> overParent = std::nullopt)
{
    const auto interval = [](double value) { return Interval{value, value * 0.99, value * 1.01}; };
    CaseTiming timing;
    timing.caseId = id;
    timing.provenance = Provenance::Measured;
    timing.timeUs = interval(us);
    timing.speedupRoot = interval(overRoot);
    if (overParent) {
        timing.speedupParent = interval(*overParent);
    }
    return timing;
}

/// A root of 100 and 400 us, and a candidate of 50 and 100: two and four times as fast.
class RenewedFigures : public testing::Test
{
protected:
    void SetUp() override
    {
        store = Store::create(m_scratch.path() / "s.espalier", SessionInfo{}).value();
        keep(taskRoot, NodeKind::Root, {timed("a", 100, 1), timed("b", 400, 1)});
        keep(NodeId{2}, NodeKind::Candidate, {timed("a", 50, 2), timed("b", 100, 4)});
        task.cases.resize(2);
        task.cases[0].id = "a";
        task.cases[1].id = "b";
    }

    void keep(NodeId id, NodeKind kind, std::vector<CaseTiming> cases)
    {
        StoredNode node;
        node.id = id;
        node.kind = kind;
        node.state = NodeState::Done;
        node.payload = "{}";
        node.source = "source";
        if (kind != NodeKind::Root) {
            node.parents = {{taskRoot, EdgeRole::Primary}};
        }
        ASSERT_TRUE(store->addNode(node));
        StoredStage stage;
        stage.node = id;
        stage.stage = Stage::Time;
        stage.attempt = 0;
        stage.record.stage = Stage::Time;
        stage.record.outcome = Outcome::Passed;
        stage.record.timing.emplace().cases = std::move(cases);
        ASSERT_TRUE(store->addStage(stage));
    }
    Evaluation evaluation(NodeId id) { return mergeRecords(store->stages(id).value(), std::nullopt).evaluation; }

    ScratchFolder m_scratch = ScratchFolder::create("renewed").value();
    std::unique_ptr<Store> store;
    Task task;
};

TEST_F(RenewedFigures, TheObjectiveFollowsTheWeights)
{
    ASSERT_EQ(renewed_figures::addUp(*store, task).value().size(), 2u);
    EXPECT_NEAR(evaluation(NodeId{2}).timing->speedupRoot->value, std::sqrt(8.0), 1e-12);
    EXPECT_NEAR(evaluation(NodeId{2}).timing->objectiveUs->value, std::sqrt(5000.0), 1e-9);
    EXPECT_TRUE(renewed_figures::addUp(*store, task).value().empty()) << "nothing to say twice";
    task.cases[1].weight = 3;
    task.objective.geometricMean = false;
    task.objective.guard = 0.4;
    ASSERT_EQ(renewed_figures::addUp(*store, task).value().size(), 2u);
    EXPECT_NEAR(evaluation(NodeId{2}).timing->objectiveUs->value, (50 + 3 * 100) / 4.0, 1e-9);
    EXPECT_NEAR(evaluation(NodeId{2}).timing->speedupRoot->value, std::pow(2, 1.75), 1e-12);
    EXPECT_NE(evaluation(NodeId{2}).timing->guardBroken.find("case a takes 0.5 times as long as the root"),
              std::string::npos);
    task.objective.guard.reset();
    ASSERT_TRUE(renewed_figures::addUp(*store, task));
    EXPECT_EQ(evaluation(NodeId{2}).timing->guardBroken, "");
    EXPECT_GE(store->stages(NodeId{2})->size(), 4u) << "what was measured stays";
}

TEST_F(RenewedFigures, RatiosFollowARootThatWasTimedBesideTheOneBefore)
{
    const Evaluation before = evaluation(taskRoot);
    Evaluation now;
    now.timing.emplace().cases = {timed("a", 81, 1, 1.25), timed("b", 250, 1, 1.6)}; // 81: the GPU was warmer
    now.timing->speedupParent = Interval{std::sqrt(2.0), 1.4, 1.43};
    ASSERT_TRUE(renewed_figures::addUp(*store, task));
    const auto renewed = renewed_figures::overRoot(*store, now, before).value();
    ASSERT_EQ(renewed.size(), 1u);
    EXPECT_EQ(renewed.front().first, NodeId{2});
    const TimingRecord record = *evaluation(NodeId{2}).timing;
    EXPECT_NEAR(record.cases[0].speedupRoot->value, 2 / 1.25, 1e-12);
    EXPECT_NEAR(record.cases[1].speedupRoot->value, 4 / 1.6, 1e-12);
    EXPECT_NEAR(record.speedupRoot->value, 2, 1e-12);
    EXPECT_LT(record.speedupRoot->low, 2 * 0.99) << "both errors";
    EXPECT_EQ(record.cases[0].timeUs.value, 50);
    EXPECT_EQ(evaluation(NodeId{2}).evidence.back().check, "edition");
}

TEST_F(RenewedFigures, WithoutAPairTheTwoTimesMustDo)
{
    const Evaluation before = evaluation(taskRoot);
    Evaluation now;
    now.timing.emplace().cases = {timed("a", 50, 1), timed("b", 100, 1)};
    ASSERT_EQ(renewed_figures::overRoot(*store, now, before).value().size(), 0u) << "no objective: nothing can be said";
    ASSERT_TRUE(renewed_figures::addUp(*store, task));
    now.timing->objectiveUs = Interval{std::sqrt(5000.0), 70, 71};
    ASSERT_EQ(renewed_figures::overRoot(*store, now, evaluation(taskRoot)).value().size(), 1u);
    EXPECT_NEAR(evaluation(NodeId{2}).timing->cases[0].speedupRoot->value, 1, 1e-12);
    EXPECT_NEAR(evaluation(NodeId{2}).timing->speedupRoot->value, 1, 1e-12);
}

} // namespace
} // namespace espalier
