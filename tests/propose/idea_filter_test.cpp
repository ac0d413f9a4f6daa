// SPDX-License-Identifier: Apache-2.0
#include "core/propose/llm/answer_reading.h"
#include "core/propose/llm/idea_filter.h"
#include "core/propose/llm/model_choice.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

ProposedIdea idea(const std::string& title, const std::string& text)
{
    return {.key = ideaKey(title, text), .title = title, .text = text, .payload = "{}"};
}

IdeaContext under(std::vector<KnownIdea> known)
{
    auto background = std::make_shared<Background>();
    background->ideas = std::move(known);
    IdeaContext context;
    context.parent = NodeId{1};
    context.background = background;
    return context;
}

TEST(IdeaFilter, DropsWhatWasSaidAndSaysWhere)
{
    const auto result =
        filterIdeas({idea("Keep rows in registers", "Read each row once and keep it in registers."),
                     idea("Keep the row in registers", "Each row is read once and kept in the registers."),
                     idea("Wider loads", "Load sixteen bytes at a time."), idea("  ", "…")},
                    under({{NodeId{9}, NodeId{1}, "Load wide", "Loads of sixteen bytes at a time, wider."}}), 4);
    ASSERT_EQ(result.kept.size(), 1u);
    ASSERT_EQ(result.dropped.size(), 3u);
    EXPECT_NE(result.dropped[0].reason.find("repeats \"Keep rows in registers\" of the same answer"),
              std::string::npos);
    EXPECT_NE(result.dropped[1].reason.find("repeats idea 9 (\"Load wide\")"), std::string::npos)
        << result.dropped[1].reason;
    EXPECT_EQ(result.dropped[2].reason, "it says nothing");
}

TEST(IdeaFilter, NumbersMakeADifferenceAndOtherParentsDoNotCount)
{
    EXPECT_LT(likeness("unroll by 4", "unroll by 8"), nearDuplicate);
    EXPECT_EQ(likeness("The Loads, vectorised.", "vectorised loads"), 1);
    const auto elsewhere = filterIdeas({idea("Load wide", "Sixteen bytes.")},
                                       under({{NodeId{9}, NodeId{5}, "Load wide", "Sixteen bytes."}}), 4);
    EXPECT_EQ(elsewhere.kept.size(), 1u);
}

TEST(IdeaFilter, KeepsAsManyAsWereAskedFor)
{
    const auto result = filterIdeas(
        {idea("alpha", "first thing"), idea("beta", "second item"), idea("gamma", "third point")}, under({}), 2);
    EXPECT_EQ(result.kept.size(), 2u);
    ASSERT_EQ(result.dropped.size(), 1u);
    EXPECT_NE(result.dropped[0].reason.find("2 ideas were asked for"), std::string::npos);
}

TEST(IdeaFilter, AnAnswerReadAgainGivesTheSameIdeas)
{
    const std::vector<ProposedIdea> offered = {idea("alpha", "first thing"), idea("beta", "second item")};
    const auto again = filterIdeas(offered, under({{NodeId{2}, NodeId{1}, "alpha", "first thing"}}), 2);
    EXPECT_EQ(again.kept.size(), 2u); // the tree knows them by their keys
}

KnownTry tryOf(const std::string& model, std::optional<double> score, std::int64_t tokens, double usd)
{
    KnownTry known;
    known.payload = modelPayload(model, 1);
    known.outcome = score ? Outcome::Passed : Outcome::Incorrect;
    known.score = score;
    known.parentScore = 1;
    known.tokens = tokens;
    known.usd = usd;
    return known;
}

TEST(ModelChoice, GainPerCostDecides)
{
    const std::vector<ModelShare> models = {{"dear", 1}, {"cheap", 1}};
    std::vector<KnownTry> tried;
    for (int i = 0; i < 12; ++i) {
        tried.push_back(tryOf("dear", 1.6, 1000, 0.50));
        tried.push_back(tryOf("cheap", 1.5, 1000, 0.01));
    }
    EXPECT_EQ(chooseModel(models, tried, 1, "q"), 1u);
    for (KnownTry& one : tried) { // the same money, and only the dear one finds anything
        one.usd = 0.1;
        one.score = modelOf(one.payload) == "dear" ? one.score : std::nullopt;
        one.outcome = one.score ? Outcome::Passed : Outcome::Incorrect;
    }
    EXPECT_EQ(chooseModel(models, tried, 1, "q"), 0u);
}

TEST(ModelChoice, WeightsAndDrawsAreTheSameEverywhere)
{
    const std::vector<ModelShare> models = {{"a", 3}, {"b", 1}, {"never", 0}};
    int first = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::size_t chosen = chooseModel(models, {}, 7, std::to_string(i));
        ASSERT_NE(chosen, 2u);
        ASSERT_EQ(chosen, chooseModel(models, {}, 7, std::to_string(i)));
        first += chosen == 0;
    }
    EXPECT_NEAR(first, 750, 50);
}

TEST(AnswerReading, OnlyAnEmptyListMeansNoIdeas)
{
    Exchange exchange;
    exchange.answer = " {\"ideas\": []}\n";
    EXPECT_TRUE(saysNoIdeas(exchange));
    exchange.answer = "[]";
    EXPECT_TRUE(saysNoIdeas(exchange));
    exchange.answer = "I have no ideas.";
    EXPECT_FALSE(saysNoIdeas(exchange));
}

} // namespace
} // namespace espalier
