// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/pair_comparison.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

using statistics::Comparison;

NodeSummary timed(std::int64_t id, Interval overRoot, Provenance provenance = Provenance::Measured)
{
    NodeSummary node;
    node.id = NodeId{id};
    node.kind = id == 1 ? NodeKind::Root : NodeKind::Candidate;
    node.state = NodeState::Done;
    node.outcome = Outcome::Passed;
    node.provenance = provenance;
    node.epoch = "e";
    node.timeUs = Interval{10, 9.9, 10.1};
    if (id != 1) {
        node.speedupRoot = overRoot;
    }
    return node;
}

TEST(PairComparison, AParentAndItsChildWereTimedTogether)
{
    const NodeSummary parent = timed(2, {1.5, 1.49, 1.51});
    NodeSummary child = timed(3, {1.5, 1.49, 1.51});
    child.speedupParent = Interval{1.25, 1.2, 1.3};
    const PairVerdict forward = comparePair({parent, NodeId{1}}, {child, NodeId{2}});
    EXPECT_TRUE(forward.together);
    EXPECT_EQ(forward.speedup, child.speedupParent) << "the paired ratio, not the one through the root";
    EXPECT_EQ(forward.sentence,
              "Node 3 is surely faster than node 2: 1.250x, 95 % interval 1.200 to 1.300, timed in the same blocks.");
    const PairVerdict backward = comparePair({child, NodeId{2}}, {parent, NodeId{1}});
    EXPECT_EQ(backward.comparison, Comparison::Slower);
    EXPECT_EQ(backward.sentence, forward.sentence) << "whichever is named first";
}

TEST(PairComparison, OthersAreComparedThroughTheRoot)
{
    const NodeSummary one = timed(2, {2, 1.9, 2.1}), other = timed(3, {2.1, 2.0, 2.2});
    const PairVerdict verdict = comparePair({one, NodeId{1}}, {other, NodeId{1}});
    EXPECT_FALSE(verdict.together);
    EXPECT_EQ(verdict.comparison, Comparison::Tie) << "5 % apart, with 5 % of noise in each";
    EXPECT_NE(verdict.sentence.find("Nodes 2 and 3 are a tie"), std::string::npos) << verdict.sentence;
    EXPECT_NE(verdict.sentence.find("each timed against the root"), std::string::npos) << verdict.sentence;
    const PairVerdict root = comparePair({timed(1, {}), {}}, {one, NodeId{1}});
    EXPECT_TRUE(root.together);
    EXPECT_EQ(root.speedup, one.speedupRoot);
}

TEST(PairComparison, ModelledFiguresHaveNoNoise)
{
    const NodeSummary one = timed(2, {2, 2, 2}, Provenance::Model),
                      other = timed(3, {2.002, 2.002, 2.002}, Provenance::Model);
    EXPECT_EQ(comparePair({one, {}}, {other, {}}).sentence,
              "Node 3 is faster than node 2: ≈1.001x, modelled and without noise.");
}

TEST(PairComparison, WhatCannotBeComparedSaysWhy)
{
    const NodeSummary one = timed(2, {2, 2, 2});
    NodeSummary other = timed(3, {2, 2, 2});
    other.epoch = "f";
    EXPECT_EQ(comparePair({one, {}}, {other, {}}).sentence,
              "They were measured on different devices, drivers or toolkits: their times are not comparable.");
    EXPECT_EQ(comparePair({one, {}}, {timed(3, {2, 2, 2}, Provenance::Model), {}}).sentence,
              "One is measured and the other modelled: their times are not comparable.");
    other.epoch = one.epoch;
    other.olderEdition = true;
    EXPECT_EQ(
        comparePair({one, {}}, {other, {}}).sentence,
        "Node 3 was judged under an earlier edition of the task and node 2 under a later one: their times are not "
        "comparable until node 3 is timed again.");
    other.timeUs.reset();
    other.outcome = Outcome::Incorrect;
    const PairVerdict verdict = comparePair({one, {}}, {other, {}});
    EXPECT_EQ(verdict.sentence, "Node 3 has no time (incorrect): there is nothing to compare it by.");
    EXPECT_EQ(verdict.speedup, std::nullopt);
    NodeSummary lonely = timed(4, {});
    lonely.speedupRoot.reset();
    EXPECT_EQ(comparePair({one, {}}, {lonely, {}}).speedup, std::nullopt);
}

} // namespace
} // namespace espalier
