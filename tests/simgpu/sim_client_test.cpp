// SPDX-License-Identifier: Apache-2.0
// A runner that lies: malformed, cut and random messages never do more than end that runner's connection.
#include "core/simgpu/sim_client.h"

#include "core/simgpu/bulk_message.h"
#include "core/simgpu/report_wire.h"
#include "tests/simgpu/sim_fixture.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/socket.h>

namespace espalier::sim::test {
namespace {

class SimClientTest : public ::testing::Test
{
protected:
    void SetUp() override
    {
        m_shared.profile = *DeviceProfile::parse(profileText(), PROFILE_PATH);
        m_shared.clientBytes = std::uint64_t{16} << 20;
        m_shared.cancel = &m_cancel;
        m_shared.limits.sharedPerBlockOptin = 227 * 1024;
        connect();
    }

    void connect()
    {
        auto ends = MessageSocket::pair();
        m_client.emplace(std::move(ends->first), m_shared);
        m_runner.emplace(std::move(ends->second));
        ::fcntl(m_runner->fd(), F_SETFL, O_NONBLOCK);
    }

    /// Sends and has it handled; false once the client is disconnected.
    bool say(const std::string& bytes, const std::vector<int>& descriptors = {})
    {
        if (m_client->fd() < 0 || bytes.empty()) {
            return false;
        }
        EXPECT_TRUE(m_runner->send(bytes, descriptors));
        m_client->serveOne();
        char answer[1024];
        while (::recv(m_runner->fd(), answer, sizeof answer, MSG_DONTWAIT) > 0) {
        }
        return m_client->fd() >= 0;
    }
    bool say(const ByteWriter& message) { return say(message.bytes()); }

    SharedDevice m_shared;
    std::atomic<bool> m_cancel = false;
    std::optional<SimClient> m_client;
    std::optional<MessageSocket> m_runner;
};

ByteWriter message(Request request)
{
    return ByteWriter().put(request);
}

TEST_F(SimClientTest, CallsMustBeginAndEndInABlock)
{
    EXPECT_FALSE(say(message(Request::BeginCall).put(std::uint32_t{0})));
    connect();
    EXPECT_FALSE(say(message(Request::EndBlock)));
    connect();
    ASSERT_TRUE(m_client->beginBlock({}));
    EXPECT_FALSE(m_client->beginBlock({}));
    EXPECT_TRUE(say(message(Request::BeginCall)));
    EXPECT_TRUE(say(message(Request::EndCall).put(std::int32_t{3}).put(1.5)));
    EXPECT_TRUE(say(message(Request::EndBlock)));
    EXPECT_FALSE(say(message(Request::BeginCall))) << "a block that ended takes no more calls";
    const BlockReport report = m_client->finishBlock();
    EXPECT_TRUE(report.ended);
    ASSERT_EQ(report.calls.size(), 1u);
    EXPECT_EQ(report.calls[0].hostStatus, 3);
}

TEST_F(SimClientTest, WorkAfterTheBlockIsDroppedAndCounted)
{
    const auto set =
        message(Request::Memset).put(givenStream).put(windowBase).put(std::uint8_t{0}).put(std::uint64_t{4});
    EXPECT_TRUE(say(set));
    ASSERT_TRUE(m_client->beginBlock({}));
    EXPECT_TRUE(say(message(Request::EndBlock)));
    EXPECT_TRUE(say(set));
    const BlockReport report = m_client->finishBlock();
    EXPECT_EQ(report.stray, 2u);
    EXPECT_FALSE(m_client->releaseDeferred().calls[0].fault);
}

TEST_F(SimClientTest, ADisconnectedRunnerStillHasAReport)
{
    ASSERT_TRUE(m_client->beginBlock({}));
    EXPECT_FALSE(say(std::string("\x7f")));
    EXPECT_EQ(m_client->fd(), -1);
    const BlockReport report = m_client->finishBlock();
    EXPECT_FALSE(report.ended);
    EXPECT_NE(report.disconnected.find("unknown kind"), std::string::npos) << report.disconnected;
}

TEST_F(SimClientTest, ARunnerCannotTakeMoreThanItsShare)
{
    std::uint64_t given = 0;
    for (int i = 0; i < 40; ++i) {
        ASSERT_TRUE(m_runner->send(message(Request::Malloc).put(std::uint64_t{1} << 20).bytes()));
        m_client->serveOne();
        std::uint64_t address = 0;
        ASSERT_EQ(::recv(m_runner->fd(), &address, sizeof address, 0), 8);
        given += address != 0;
    }
    EXPECT_EQ(given, 16u);
}

TEST_F(SimClientTest, TooMuchQueuedWorkEndsTheConnection)
{
    ASSERT_TRUE(m_client->beginBlock({}));
    const auto set =
        message(Request::Memset).put(givenStream).put(windowBase).put(std::uint8_t{0}).put(std::uint64_t{4});
    int accepted = 0;
    while (accepted < 200'000 && say(set)) {
        ++accepted;
    }
    EXPECT_LT(accepted, 100'000);
    EXPECT_NE(m_client->finishBlock().disconnected, "");
}

TEST_F(SimClientTest, RandomMessagesNeverDoMoreThanDisconnect)
{
    std::mt19937_64 random(11);
    const auto value = [&random]() -> std::uint64_t {
        switch (random() % 6) {
        case 0:
            return random();
        case 1:
            return windowBase + random() % (std::uint64_t{8} << 20);
        case 2:
            return ~std::uint64_t{0} - random() % 16;
        default:
            return random() % 8;
        }
    };
    int disconnected = 0;
    for (int round = 0; round < 20'000; ++round) {
        if (m_client->fd() < 0) {
            ++disconnected;
            m_client->finishBlock();
            connect();
        }
        if (random() % 16 == 0) {
            (void)m_client->beginBlock({1000});
        } else if (random() % 64 == 0) {
            m_client->finishBlock();
            m_client->releaseDeferred();
        }
        ByteWriter bytes;
        bytes.put(static_cast<std::uint8_t>(random() % 28));
        for (auto fields = random() % 5; fields > 0; --fields) {
            const std::uint64_t field = value();
            switch (random() % 4) {
            case 0:
                bytes.put(static_cast<std::uint8_t>(field));
                break;
            case 1:
                bytes.put(static_cast<std::uint32_t>(field));
                break;
            case 2:
                bytes.put(field);
                break;
            default:
                bytes.text(std::string(field % 100, 'a'));
                break;
            }
        }
        say(bytes);
    }
    EXPECT_GT(disconnected, 1000);
}

TEST_F(SimClientTest, AModuleThatIsRubbishIsAnAnswerNotACrash)
{
    std::mt19937_64 random(5);
    for (int round = 0; round < 50; ++round) {
        std::string bytes(random() % 4000, '\0');
        for (char& byte : bytes) {
            byte = static_cast<char>(random());
        }
        auto file = memfdOf("rubbish", bytes);
        ASSERT_TRUE(file);
        EXPECT_TRUE(say(message(Request::Module).put(std::uint64_t{bytes.size()}).bytes(), {file->get()}));
    }
    auto empty = memfdOf("empty", "");
    EXPECT_TRUE(say(message(Request::Module).put(std::uint64_t{1} << 20).bytes(), {empty->get()})) << "a shorter file";
    EXPECT_FALSE(say(message(Request::Module).put(std::uint64_t{1} << 40).bytes(), {empty->get()}));
}

TEST(ReportWire, ReportsSurviveTheWayAndCutOnesAreRefused)
{
    BlockReport report;
    report.ended = true;
    report.stray = 3;
    report.disconnected = "why";
    CallReport call;
    call.counters.atomics = 7;
    call.modelledSeconds = 1e-6;
    call.unjoined = 2;
    call.misuse = {"cudaMalloc"};
    call.unsupported = {"a", "b"};
    call.fault = CallFault{700, FaultKind::ReadOnlyWrite, false, "sentence", "file.cu", 12};
    call.launches.push_back({"kernel", {1, 2, 3}, {4, 5, 6}, 77, 9, {}, 0.25});
    call.launches[0].counters.divergentBranches = 5;
    report.calls = {call, {}};
    ByteWriter to;
    putReport(to, report);
    BlockReport back;
    ByteReader from(to.bytes());
    ASSERT_TRUE(getReport(from, back) && from.done());
    ByteWriter again;
    putReport(again, back);
    EXPECT_EQ(again.bytes(), to.bytes());
    EXPECT_EQ(back.calls.at(0).fault->line, 12);
    EXPECT_EQ(back.calls.at(0).launches.at(0).grid.y, 2u);
    for (std::size_t size = 0; size < to.bytes().size(); ++size) {
        ByteReader cut(std::string_view(to.bytes()).substr(0, size));
        BlockReport ignored;
        EXPECT_FALSE(getReport(cut, ignored)) << size;
    }
}

} // namespace
} // namespace espalier::sim::test
