// SPDX-License-Identifier: Apache-2.0
#include "core/runner/runner_messages.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace espalier::runner {
namespace {

Request sampleRequest()
{
    Request request;
    request.verb = Verb::Block;
    request.sequence = 42;
    request.names = {"softmax_f32", "softmax_f32_workspace"};
    request.confined = true;
    request.slot = 7;
    request.grant = {std::uint64_t{1} << 30, Grant::ReadWrite};
    request.offset = 256;
    request.displaceL2 = true;
    request.calls.push_back({0, {{ValueKind::Pointer, 3, 16}, {ValueKind::I64, 0, 4096}, {ValueKind::Stream, 0, 0}}});
    return request;
}

Reply sampleReply()
{
    Reply reply;
    reply.sequence = 42;
    reply.text = "words";
    reply.size = 3;
    reply.clock.hostMicroseconds = 12.5;
    reply.clock.calls = {{1.5, 2.5}, {3.5, 4.5}};
    return reply;
}

TEST(RunnerMessages, RequestsSurvive)
{
    const auto back = decodeRequest(encode(sampleRequest()));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->verb, Verb::Block);
    EXPECT_EQ(back->sequence, 42U);
    EXPECT_EQ(back->names, sampleRequest().names);
    EXPECT_TRUE(back->confined);
    EXPECT_EQ(back->grant.mappedBytes, std::uint64_t{1} << 30);
    EXPECT_EQ(back->grant.access, Grant::ReadWrite);
    ASSERT_EQ(back->calls.size(), 1U);
    EXPECT_EQ(back->calls[0].values[0].slot, 3U);
    EXPECT_EQ(back->calls[0].values[1].bits, 4096U);
}

TEST(RunnerMessages, RepliesSurvive)
{
    const auto back = decodeReply(encode(sampleReply()));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->text, "words");
    ASSERT_EQ(back->clock.calls.size(), 2U);
    EXPECT_EQ(back->clock.calls[1].eventMicroseconds, 3.5);
}

TEST(RunnerMessages, LongTextsAreCut)
{
    Reply reply;
    reply.text.assign(100000, 'x');
    EXPECT_EQ(decodeReply(encode(reply))->text.size(), maxText);
}

TEST(RunnerMessages, ClaimedTimesMustBeTimes)
{
    for (const double claim : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        Reply reply = sampleReply();
        reply.clock.calls[0].eventMicroseconds = claim;
        EXPECT_FALSE(decodeReply(encode(reply)));
    }
}

TEST(RunnerMessages, EveryCutIsRefused)
{
    const std::string request = encode(sampleRequest());
    const std::string reply = encode(sampleReply());
    for (std::size_t size = 0; size < request.size(); ++size) {
        EXPECT_FALSE(decodeRequest(std::string_view(request).substr(0, size)));
    }
    for (std::size_t size = 0; size < reply.size(); ++size) {
        EXPECT_FALSE(decodeReply(std::string_view(reply).substr(0, size)));
    }
    EXPECT_FALSE(decodeReply(reply + "x"));
}

/// A hostile runner writes what it likes: nothing may crash, and what is accepted keeps the limits.
TEST(RunnerMessages, RandomBytesNeverCrash)
{
    std::mt19937 random(1);
    const std::string good = encode(sampleReply());
    for (int i = 0; i < 20000; ++i) {
        std::string bytes = good;
        for (int change = 0; change < 1 + i % 6; ++change) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        if (const auto reply = decodeReply(bytes)) {
            EXPECT_LE(reply->clock.calls.size(), maxCalls);
            EXPECT_LE(reply->text.size(), maxText);
            for (const CallClock& call : reply->clock.calls) {
                EXPECT_TRUE(std::isfinite(call.eventMicroseconds) && call.eventMicroseconds >= 0);
            }
        }
        std::string noise(random() % 200, '\0');
        for (char& c : noise) {
            c = static_cast<char>(random());
        }
        EXPECT_FALSE(decodeReply(noise));
        EXPECT_FALSE(decodeRequest(noise));
    }
}

} // namespace
} // namespace espalier::runner
