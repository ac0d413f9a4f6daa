// SPDX-License-Identifier: Apache-2.0
#include "core/base/line_channel.h"
#include "core/base/message_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace espalier;
using namespace std::chrono_literals;

namespace {

std::pair<UniqueFd, UniqueFd> makePipe()
{
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

} // namespace

TEST(LineChannel, LinesArriveWhole)
{
    auto [reader, writer] = makePipe();
    LineChannel in(std::move(reader), UniqueFd(), 1 << 20);
    ASSERT_EQ(::write(writer.get(), "one\ntw", 6), 6);
    ASSERT_TRUE(*in.fill());
    EXPECT_EQ(in.next(), "one");
    EXPECT_EQ(in.next(), std::nullopt);
    ASSERT_EQ(::write(writer.get(), "o\n\n", 3), 3);
    ASSERT_TRUE(*in.fill());
    EXPECT_EQ(in.next(), "two");
    EXPECT_EQ(in.next(), "");
    writer.reset();
    EXPECT_FALSE(*in.fill());
}

TEST(LineChannel, EndlessLineIsAProtocolError)
{
    auto [reader, writer] = makePipe();
    LineChannel in(std::move(reader), UniqueFd(), 1000);
    const std::string junk(2000, 'x');
    ASSERT_EQ(::write(writer.get(), junk.data(), junk.size()), 2000);
    EXPECT_EQ(in.fill().error().code, ErrorCode::Protocol);
}

TEST(LineChannel, LargeLineThroughASlowReader)
{
    auto [reader, writer] = makePipe();
    LineChannel out(UniqueFd(), std::move(writer), 1 << 24);
    const std::string large(3'000'000, 'y');
    std::jthread sender([&] { EXPECT_TRUE(out.send(large)); });
    LineChannel in(std::move(reader), UniqueFd(), 1 << 24);
    std::optional<std::string> line;
    while (!(line = in.next())) {
        ASSERT_TRUE(*in.fill());
    }
    EXPECT_EQ(*line, large);
}

TEST(LineChannel, PeerThatStopsReadingMeetsADeadline)
{
    auto [reader, writer] = makePipe();
    LineChannel out(UniqueFd(), std::move(writer), 1 << 24);
    EXPECT_EQ(out.send(std::string(10'000'000, 'y'), 200).error().code, ErrorCode::WorkerLost);
}

TEST(LineChannel, DeadPeerIsAnErrorNotASignal)
{
    auto [reader, writer] = makePipe();
    LineChannel out(UniqueFd(), std::move(writer), 1000);
    reader.reset();
    EXPECT_EQ(out.send("x").error().code, ErrorCode::WorkerLost);
}

TEST(MessageSocket, CarriesDescriptors)
{
    auto pair = MessageSocket::pair();
    ASSERT_TRUE(pair);
    auto [reader, writer] = makePipe();
    ASSERT_TRUE(pair->first.send("take this", {writer.get()}));
    writer.reset();
    auto message = pair->second.receive(1s);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->bytes, "take this");
    ASSERT_EQ(message->descriptors.size(), 1u);
    ASSERT_EQ(::write(message->descriptors[0].get(), "!", 1), 1);
    char byte = 0;
    EXPECT_EQ(::read(reader.get(), &byte, 1), 1);
}

TEST(MessageSocket, DeadlineAndClosedPeerAreDifferentSentences)
{
    auto pair = MessageSocket::pair();
    EXPECT_EQ(pair->second.receive(50ms).error().message, "the peer missed its deadline");
    {
        const auto gone = std::move(pair->first);
    }
    EXPECT_EQ(pair->second.receive(50ms).error().message, "the peer closed the connection");
}

TEST(MessageSocket, LargeMessagesAreWhole)
{
    auto pair = MessageSocket::pair();
    const std::string large(MessageSocket::maxBytes, 'z');
    ASSERT_TRUE(pair->first.send(large));
    EXPECT_EQ(pair->second.receive(1s)->bytes, large);
}
