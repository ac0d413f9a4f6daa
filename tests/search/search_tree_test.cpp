// SPDX-License-Identifier: Apache-2.0
#include "core/search/search_tree.h"

#include "core/search/node_book.h"
#include "core/search/node_payload.h"
#include "core/search/strategy.h"
#include "tests/support/tree_text.h"

#include <gtest/gtest.h>

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

TEST(Strategies, AreMadeByName)
{
    EXPECT_EQ(makeStrategy("refine", 1).value()->name(), "refine");
    EXPECT_EQ(makeStrategy("sample", 1).value()->name(), "sample");
    EXPECT_EQ(makeStrategy("beam", 1).error().code, ErrorCode::NotSupported);
    EXPECT_EQ(makeStrategy("reffine", 1).error().message, "There is no strategy \"reffine\": choose refine or sample.");
}

} // namespace
} // namespace espalier
