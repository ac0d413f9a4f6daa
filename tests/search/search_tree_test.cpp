// SPDX-License-Identifier: Apache-2.0
#include "core/search/search_tree.h"

#include "core/analysis/fresh_runs.h"
#include "core/search/node_book.h"
#include "core/search/node_payload.h"
#include "core/search/strategy.h"
#include "tests/support/tree_text.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace espalier {
namespace {

TEST(SearchTree, FindsParentsThroughIdeas)
{
    const SearchTree tree = treeFromText("root:passed > a > c1:passed(2.0) > b > c2:?");
    EXPECT_EQ(tree.parentCandidate(NodeId{5}), NodeId{3});
    EXPECT_EQ(tree.parentCandidate(NodeId{4}), NodeId{3});
    EXPECT_EQ(tree.parentCandidate(NodeId{2}), NodeId{1});
    EXPECT_EQ(tree.parentCandidate(NodeId{1}), std::nullopt);
}

TEST(SearchTree, PromiseIsRelativeToTheBest)
{
    const SearchTree tree = treeFromText("root:passed > a > c1:passed(2.0); a > c2*3:passed(1.0); a > c3:incorrect");
    EXPECT_DOUBLE_EQ(tree.bestScore(), 2.0);
    EXPECT_DOUBLE_EQ(tree.promise(NodeId{1}), 0.5);
    EXPECT_DOUBLE_EQ(tree.promise(NodeId{3}), 1.0);
    EXPECT_DOUBLE_EQ(tree.promise(NodeId{4}), 1.5);
    EXPECT_FALSE(tree.score(NodeId{5}));
}

TEST(SearchTree, WithoutAPairedRatioTheTimesDecide)
{
    SearchTree tree = treeFromText("root:passed > a > c1:passed");
    EXPECT_FALSE(tree.score(NodeId{3}));
    tree.find(NodeId{1})->verdict->timeUs = 100;
    tree.find(NodeId{3})->verdict->timeUs = 40;
    EXPECT_DOUBLE_EQ(tree.score(NodeId{3}).value(), 2.5);
}

TEST(SearchTree, PrunedNodesDoNotSetTheScale)
{
    const SearchTree tree = treeFromText("root:passed > a- > c1:passed(9.0); root > b > c2:passed(2.0)");
    EXPECT_DOUBLE_EQ(tree.bestScore(), 2.0);
    EXPECT_FALSE(tree.inSearch(NodeId{3}));
    EXPECT_FALSE(tree.isParent(NodeId{3}));
}

StoredNode storedNode(std::int64_t id, std::optional<std::int64_t> parent)
{
    StoredNode node;
    node.id = NodeId{id};
    node.kind = parent ? NodeKind::Candidate : NodeKind::Root;
    node.state = NodeState::Queued;
    if (parent) {
        node.parents = {{NodeId{*parent}, EdgeRole::Primary}};
    }
    return node;
}

Evaluation timedEvaluation(double speedup, const std::string& epoch, Provenance provenance)
{
    Evaluation evaluation;
    evaluation.outcome = Outcome::Passed;
    evaluation.stage = Stage::Time;
    evaluation.epoch = epoch;
    evaluation.timing = TimingRecord{};
    evaluation.timing->cases.push_back({.caseId = "c", .provenance = provenance});
    evaluation.timing->speedupRoot = Interval{speedup, speedup - 0.1, speedup + 0.1};
    evaluation.timing->objectiveUs = Interval{100 / speedup, 0, 0};
    return evaluation;
}

TEST(NodeBook, TheBestIsOfThisFrameOnly)
{
    NodeBook book;
    book.setFrame({Provenance::Measured, "now"});
    book.add(storedNode(1, std::nullopt));
    for (std::int64_t id = 2; id <= 5; ++id) {
        book.add(storedNode(id, 1));
    }
    EXPECT_EQ(book.best(), std::nullopt);
    book.finished(NodeId{1}, timedEvaluation(1, "now", Provenance::Measured));
    EXPECT_EQ(book.best(), NodeId{1});
    book.finished(NodeId{2}, timedEvaluation(9, "before", Provenance::Measured));
    book.finished(NodeId{3}, timedEvaluation(8, "now", Provenance::Model));
    book.finished(NodeId{4}, timedEvaluation(2, "now", Provenance::Measured));
    book.finished(NodeId{5}, timedEvaluation(3, "now", Provenance::Measured));
    EXPECT_EQ(book.best(), NodeId{5});
    StoredNode pruned = storedNode(5, 1);
    pruned.state = NodeState::Done;
    pruned.pruned = true;
    book.update(pruned);
    EXPECT_EQ(book.best(), NodeId{4});
    EXPECT_EQ(book.counts().evaluations, 4);
    EXPECT_EQ(book.counts().passed, 4);
}

Evaluation measured(Interval overRoot, std::optional<Interval> overParent = std::nullopt)
{
    Evaluation evaluation = timedEvaluation(overRoot.value, "", Provenance::Measured);
    evaluation.timing->speedupRoot = overRoot;
    evaluation.timing->speedupParent = overParent;
    return evaluation;
}

NodeBook measuredBook(int candidates)
{
    NodeBook book;
    book.setFrame({Provenance::Measured, ""});
    book.add(storedNode(1, std::nullopt));
    for (int id = 2; id <= candidates + 1; ++id) {
        book.add(storedNode(id, 1));
    }
    book.finished(taskRoot, measured({1, 1, 1}));
    return book;
}

TEST(NodeBook, ATieKeepsTheOlder)
{
    NodeBook book = measuredBook(4);
    book.finished(NodeId{2}, measured({1.500, 1.490, 1.510}));
    book.finished(NodeId{3}, measured({1.512, 1.511, 1.513})); // surely faster, by less than one percent
    EXPECT_EQ(book.best(), NodeId{2});
    book.finished(NodeId{4}, measured({1.60, 1.40, 1.80})); // faster, but not surely
    EXPECT_EQ(book.best(), NodeId{2});
    book.finished(NodeId{5}, measured({1.55, 1.54, 1.56}));
    EXPECT_EQ(book.best(), NodeId{5});
}

TEST(NodeBook, NothingIsBestThatTiesWithTheRootOrLosesToItsParent)
{
    NodeBook book = measuredBook(1);
    book.finished(NodeId{2}, measured({1.005, 1.004, 1.006}));
    EXPECT_EQ(book.best(), taskRoot);
    book.finished(NodeId{2}, measured({1.5, 1.49, 1.51}));
    StoredNode child = storedNode(3, 2);
    book.add(child);
    book.finished(NodeId{3}, measured({1.7, 1.69, 1.71}, Interval{0.9, 0.89, 0.91})); // timed together it lost
    EXPECT_EQ(book.best(), NodeId{2});
    book.finished(NodeId{3}, measured({1.5, 1.49, 1.51}, Interval{1.05, 1.04, 1.06})); // timed together it won
    EXPECT_EQ(book.best(), NodeId{3});
}

TEST(NodeBook, ABrokenGuardIsNeverTheBest)
{
    NodeBook book = measuredBook(2);
    Evaluation guarded = measured({3, 2.9, 3.1});
    guarded.timing->guardBroken = "case small takes 2 times as long as the root; the objective allows 1.1";
    book.finished(NodeId{2}, guarded);
    book.finished(NodeId{3}, measured({2, 1.9, 2.1}));
    EXPECT_TRUE(book.find(NodeId{2})->guardBroken);
    EXPECT_EQ(book.best(), NodeId{3});
    EXPECT_EQ(book.winners(5), std::vector{NodeId{3}});
}

TEST(NodeBook, WinnersAreTheFastestNotMeasuredAgain)
{
    NodeBook book = measuredBook(4);
    book.finished(NodeId{2}, measured({2.00, 1.98, 2.02}));
    book.finished(NodeId{3}, measured({2.01, 1.99, 2.03})); // a tie with the older one, which is the best
    book.finished(NodeId{4}, measured({0.8, 0.79, 0.81}));
    Evaluation again = measured({3, 2.9, 3.1});
    again.timing->again = true;
    book.finished(NodeId{5}, again);
    EXPECT_EQ(book.winners(3), (std::vector{NodeId{3}, NodeId{2}}));
    EXPECT_EQ(book.best(), NodeId{5});
    EXPECT_EQ(book.best(true), NodeId{5});
}

/// Two hundred copies of one kernel: the tie band bounds how many pass for better, and what passes by luck does not
/// outlive its second measurement.
TEST(NodeBook, LuckAmongManyCopiesMakesNoHeadline)
{
    constexpr int copies = 200;
    constexpr double noise = 0.004; // of a quick ratio
    std::mt19937 random(7);
    std::normal_distribution<double> luck(0, noise);
    const auto draw = [&](double width) {
        const double value = std::exp(luck(random) * width);
        const double half = std::exp(1.96 * noise * width);
        return Interval{value, value / half, value * half};
    };
    NodeBook book = measuredBook(copies);
    int faster = 0;
    for (int id = 2; id <= copies + 1; ++id) {
        const Interval ratio = draw(1);
        faster += statistics::compare(ratio) == statistics::Comparison::Faster;
        book.finished(NodeId{id}, measured(ratio, ratio));
    }
    EXPECT_LE(faster, copies * 25 / 1000); // the nominal rate
    for (int round = 0; round < 4 && book.best() != taskRoot; ++round) {
        for (const NodeId id : book.winners(2)) {
            Evaluation again = measured(draw(0.25)); // the full tier's
            again.timing->again = true;
            book.finished(id, again);
        }
    }
    EXPECT_EQ(book.headline(), taskRoot);
}

TEST(NodeBook, TheHeadlineIsBestOnlyWhileNothingWasMeasuredAgain)
{
    NodeBook book = measuredBook(2);
    book.finished(NodeId{2}, measured({1.5, 1.49, 1.51}));
    EXPECT_EQ(book.headline(), NodeId{2});
    Evaluation again = measured({1.001, 0.999, 1.003});
    again.timing->again = true;
    book.finished(NodeId{3}, again);
    EXPECT_EQ(book.best(), NodeId{2});
    EXPECT_EQ(book.headline(), taskRoot); // what was measured once makes no headline beside it
}

/// The engineer times a slow one again: that moves no headline.
TEST(NodeBook, TheHeadlineIsOfAllThatWereTimedInFull)
{
    NodeBook book = measuredBook(2);
    Evaluation front = measured({1.5, 1.49, 1.51});
    front.timing->tier = "full";
    book.finished(NodeId{2}, front);
    Evaluation again = measured({1.2, 1.19, 1.21});
    again.timing->again = true;
    book.finished(NodeId{3}, again);
    EXPECT_EQ(book.headline(), NodeId{2});
    EXPECT_EQ(book.headline([](const NodeSummary& node) { return node.id == NodeId{3}; }), NodeId{3});
}

TEST(NodeBook, ModelledFiguresHaveNoNoiseThatASecondLookCouldTakeAway)
{
    NodeBook book;
    book.setFrame({Provenance::Model, ""});
    for (int id = 1; id <= 3; ++id) {
        book.add(storedNode(id, id > 1 ? std::optional<std::int64_t>(1) : std::nullopt));
    }
    Evaluation root = timedEvaluation(1, "", Provenance::Model), slow = timedEvaluation(0.2, "", Provenance::Model);
    root.timing->again = slow.timing->again = true;
    book.finished(NodeId{1}, root);
    book.finished(NodeId{2}, timedEvaluation(2.5, "", Provenance::Model));
    book.finished(NodeId{3}, slow);
    EXPECT_EQ(book.headline(), NodeId{2});
}

TEST(NodeBook, TellsOfATieWithTheParent)
{
    NodeBook book;
    book.add(storedNode(1, std::nullopt));
    book.add(storedNode(2, 1));
    book.add(storedNode(3, 1));
    book.finished(NodeId{2}, timedEvaluation(1.05, "", Provenance::Model));
    book.finished(NodeId{3}, timedEvaluation(1.5, "", Provenance::Model));
    EXPECT_TRUE(book.find(NodeId{2})->tieWithParent);
    EXPECT_FALSE(book.find(NodeId{3})->tieWithParent);
    EXPECT_EQ(book.find(NodeId{3})->speedupParent, book.find(NodeId{3})->speedupRoot);
    EXPECT_EQ(book.takeChanged().size(), 3u);
    EXPECT_TRUE(book.takeChanged().empty());
}

TEST(NodePayload, SurvivesTheWayThroughText)
{
    const NodePayload payload{"row", 7, "{\"a\":1}", 12, 0.5};
    const NodePayload back = NodePayload::parse(payload.text());
    EXPECT_EQ(back.key, "row");
    EXPECT_EQ(back.planned, 7);
    EXPECT_EQ(back.own, "{\"a\":1}");
    EXPECT_EQ(back.tokens, 12);
    EXPECT_EQ(back.usd, 0.5);
    for (const char* broken : {"", "{", "[1]", "{\"key\":1,\"planned\":\"x\",\"own\":[],\"usd\":\"\"}"}) {
        EXPECT_EQ(NodePayload::parse(broken).planned, 1) << broken;
    }
}

} // namespace
} // namespace espalier
