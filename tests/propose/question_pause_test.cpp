// SPDX-License-Identifier: Apache-2.0
#include "core/propose/llm/question_pause.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

using namespace std::chrono_literals;

Exchange askedOf(const std::string& provider)
{
    Exchange exchange;
    exchange.provider = provider;
    return exchange;
}

TEST(QuestionPause, WaitsForAnswersOfProvidersThatCome)
{
    const auto now = QuestionPause::Clock::now();
    QuestionPause pause(60s);
    EXPECT_FALSE(pause.on());
    pause.begin(true, now);
    EXPECT_TRUE(pause.on());
    EXPECT_TRUE(pause.waitsFor(askedOf("openai"), true, now));
    EXPECT_FALSE(pause.waitsFor(askedOf("openai"), false, now));
    for (const auto provider : freeProviders) {
        EXPECT_FALSE(pause.waitsFor(askedOf(std::string(provider)), true, now)) << provider;
    }
}

TEST(QuestionPause, ForALimitedTimeThatALaterPauseOnlyShortens)
{
    const auto now = QuestionPause::Clock::now();
    QuestionPause pause(60s);
    pause.begin(true, now);
    pause.begin(true, now + 30s);
    EXPECT_EQ(pause.left(now + 30s), 30s);
    EXPECT_TRUE(pause.waitsFor(askedOf("anthropic"), true, now + 59s));
    EXPECT_FALSE(pause.waitsFor(askedOf("anthropic"), true, now + 60s));
    EXPECT_EQ(pause.left(now + 70s), 0s);
    QuestionPause stopped(60s);
    stopped.begin(true, now);
    stopped.begin(false, now + 1s);
    EXPECT_FALSE(stopped.waitsFor(askedOf("anthropic"), true, now + 1s));
    stopped.end();
    EXPECT_FALSE(stopped.on());
    stopped.begin(true, now + 100s);
    EXPECT_EQ(stopped.left(now + 100s), 60s) << "the next pause has all its time";
}

TEST(QuestionPause, WhatIsTakenBackIsLostWhereSomebodyBills)
{
    Exchange billed = askedOf("gemini"), begun = askedOf("gemini"), person = askedOf("manual");
    EXPECT_TRUE(QuestionPause::takeBack(billed, "", "The wait for it was ended"));
    EXPECT_EQ(billed.state, Exchange::State::Lost);
    EXPECT_EQ(billed.reason, "The wait for it was ended before anything of the answer had come; the provider may have "
                             "billed the request.");
    EXPECT_TRUE(QuestionPause::takeBack(begun, "Here", "The request was cancelled"));
    EXPECT_EQ(begun.answer, "Here");
    EXPECT_EQ(begun.reason, "The request was cancelled before the answer had ended; the provider may have billed the "
                            "request.");
    EXPECT_FALSE(QuestionPause::takeBack(person, "", "The wait for it was ended"));
    EXPECT_EQ(person.state, Exchange::State::Sent);
}

} // namespace
} // namespace espalier
