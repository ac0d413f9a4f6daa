// SPDX-License-Identifier: Apache-2.0
#include "core/search/refine.h"

#include "tests/support/tree_text.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

/// The decision in words: "ask root", "implement keep_row", "wait".
std::string decisionOn(std::string_view text)
{
    const SearchTree tree = treeFromText(text);
    const Decision decision = Refine().next(tree);
    if (const auto* ask = std::get_if<decision::AskIdeas>(&decision)) {
        return "ask " + nameIn(tree, ask->parent);
    }
    if (const auto* implement = std::get_if<decision::Implement>(&decision)) {
        return "implement " + nameIn(tree, implement->idea);
    }
    return "wait";
}

TEST(Refine, StartsWithTheRoot)
{
    EXPECT_EQ(decisionOn("root~:?"), "wait");
    EXPECT_EQ(decisionOn("root~:passed"), "ask root");
    EXPECT_EQ(decisionOn("root~:incorrect"), "wait");
    EXPECT_EQ(decisionOn("root:passed"), "wait");
}

TEST(Refine, NewIdeasUnderTheFastestParentComeFirst)
{
    EXPECT_EQ(decisionOn("root:passed > a; root > b"), "implement a");
    EXPECT_EQ(decisionOn("root:passed > slow; root > b > c1:passed(2.0) > fast"), "implement fast");
    EXPECT_EQ(decisionOn("root:passed > slow; root > b > c1~:passed(2.0) > fast"), "ask c1");
}

TEST(Refine, RejectedAndAwaitedCandidatesAreNoParents)
{
    EXPECT_EQ(decisionOn("root:passed > a > c1:incorrect > below"), "wait");
    EXPECT_EQ(decisionOn("root:passed > a > c1:? > below"), "wait");
}

TEST(Refine, PrunedSubtreesLeaveTheSearch)
{
    EXPECT_EQ(decisionOn("root:passed > a- ; root > b"), "implement b");
    EXPECT_EQ(decisionOn("root:passed > a- > c1:passed(3.0) > below"), "wait");
    EXPECT_EQ(decisionOn("root:passed > a > c1-~:passed(3.0) > below"), "wait");
}

TEST(Refine, BoostsMultiplyPromise)
{
    EXPECT_EQ(decisionOn("root:passed > slow*3; root > b > c1:passed(2.0) > fast"), "implement slow");
    EXPECT_EQ(decisionOn("root*3:passed > slow; root > b > c1:passed(2.0) > fast"), "implement slow");
    EXPECT_EQ(decisionOn("root:passed > a*0"), "wait");
}

TEST(Refine, SeriesWaitForIdeasOnTheirWay)
{
    EXPECT_EQ(decisionOn("root:passed > tune/5; root > b > c1:?"), "wait");
    EXPECT_EQ(decisionOn("root:passed > tune/5; root > b > c1-:?"), "implement tune");
    EXPECT_EQ(decisionOn("root:passed > tune/5 > t1:?"), "implement tune");
    EXPECT_EQ(decisionOn("root:passed > tune/1 > t1:?"), "wait");
}

TEST(Refine, ASeriesTiresAndGivesWay)
{
    const std::string two = "root:passed > a > c1:passed(2.0) > tune_a/9; root > b > c2:passed(1.9) > tune_b/9";
    EXPECT_EQ(decisionOn(two), "implement tune_a");
    EXPECT_EQ(decisionOn(two + "; tune_a > t1:?"), "implement tune_b");
    EXPECT_EQ(decisionOn(two + "; tune_a > t1:?; tune_b > t2:?"), "implement tune_a");
}

TEST(Refine, SeriesOfTheFewFastestAndOfThePinnedOnly)
{
    const std::string many = "root:passed > a > c1:passed(2.0) > tune1/2 > t1:passed(1.0); tune1 > t2:passed(1.0);"
                             "root > b > c2:passed(1.9) > tune2/9; root > d > c3:passed(1.8) > tune3/9;"
                             "root > e > c4:passed(1.7) > tune4/9; root > f > c5!:passed(0.1) > tune5/9";
    // Tries wear the three fastest down to nothing; the fourth is never chosen, the pinned one is.
    SearchTree tree = treeFromText(many);
    std::map<std::string, int> chosen;
    for (int round = 0; round < 400; ++round) {
        const Decision decision = Refine().next(tree);
        const auto* implement = std::get_if<decision::Implement>(&decision);
        if (!implement) {
            break;
        }
        ++chosen[nameIn(tree, implement->idea)];
        TreeNode node;
        node.id = NodeId{static_cast<std::int64_t>(tree.nodes().size()) + 1};
        node.parent = implement->idea;
        tree.find(implement->idea)->planned = 100;
        node.verdict = Verdict{Outcome::Incorrect, tree.frame(), {}, {}};
        tree.add(node);
    }
    EXPECT_GT(chosen["tune2"], 20);
    EXPECT_GT(chosen["tune3"], 20);
    EXPECT_GT(chosen["tune5"], 5);
}

TEST(Refine, NeverRanksAcrossEpochsOrProvenances)
{
    SearchTree tree = treeFromText("root:passed > slow; root > b > c1:passed(5.0) > fast");
    EXPECT_EQ(nameIn(tree, std::get<decision::Implement>(Refine().next(tree)).idea), "fast");
    tree.find(NodeId{4})->verdict->frame.epoch = "another";
    EXPECT_EQ(nameIn(tree, std::get<decision::Implement>(Refine().next(tree)).idea), "slow"); // a tie: the older one
    EXPECT_FALSE(tree.score(NodeId{4}));
    tree.find(NodeId{4})->verdict->frame = {Provenance::Measured, "epoch"};
    EXPECT_FALSE(tree.score(NodeId{4}));
    EXPECT_EQ(tree.bestScore(), 1.0);
}

} // namespace
} // namespace espalier
