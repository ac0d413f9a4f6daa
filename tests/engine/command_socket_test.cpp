// SPDX-License-Identifier: Apache-2.0
// A session that is open in one place is steered from another, through the real socket.
#include "core/engine/command_socket.h"
#include "tests/engine/engine_harness.h"

#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <mutex>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

namespace espalier {
namespace {

/// An engine on its own thread that listens.
class OpenSession
{
public:
    OpenSession()
    {
        EngineParts parts = world.parts();
        parts.seconds = [] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
        };
        parts.listen = [](const std::filesystem::path& session) { return CommandSocket::listen(session); };
        auto opened =
            Engine::open(world.options, [this](const event::Event& event) { observe(event); }, std::move(parts));
        EXPECT_TRUE(opened) << opened.error().message;
        engine = std::move(*opened);
        EXPECT_TRUE(wait([this] { return !nodes.empty(); }));
    }
    template <typename Condition>
    bool wait(Condition condition)
    {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::seconds(60), condition);
    }
    const std::filesystem::path& file() const { return world.options.session; }

    EngineHarness world;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<NodeId, NodeSummary> nodes;
    RunStatus status;
    std::unique_ptr<Engine> engine;

private:
    void observe(const event::Event& event)
    {
        const std::lock_guard lock(mutex);
        if (const auto* changes = std::get_if<event::Changes>(&event)) {
            for (const NodeSummary& node : changes->nodes) {
                nodes.insert_or_assign(node.id, node);
            }
            status = changes->status;
        }
        changed.notify_all();
    }
};

sockaddr_un addressOf(const std::string& name)
{
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path + 1, name.c_str(), sizeof address.sun_path - 1);
    return address;
}

socklen_t sizeOf(const std::string& name)
{
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

UniqueFd connectTo(const std::string& name)
{
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = addressOf(name);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeOf(name)), 0);
    return fd;
}

std::string lineFrom(int fd)
{
    std::string line;
    for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) {
        line += c;
    }
    return line;
}

TEST(CommandSocketTest, ARunningSessionIsSteeredFromOutside)
{
    OpenSession session;
    const auto send = [&session](command::Command command) {
        const auto answer = sendCommand(session.file(), command);
        return !answer ? std::string("nobody listens") : *answer ? std::string("done") : answer->error().message;
    };
    EXPECT_EQ(send(command::Run{}), "done");
    EXPECT_EQ(send(command::AddIdea{taskRoot, "from outside", "words"}), "done");
    EXPECT_EQ(send(command::SetPruned{taskRoot, true}),
              "The task's root cannot be pruned: everything is compared with it.");
    EXPECT_EQ(send(command::Kill{NodeId{99}}), "The session has no node 99.");
    EXPECT_EQ(send(command::Ban{"no fp16", "fp17 == 0"}).substr(0, 28), "\"fp17 == 0\" is no predicate:");
    EXPECT_EQ(send(command::Stop{}), "This is answered in the session's own window or process only.");
    EXPECT_EQ(send(command::Inject{taskRoot, "big", "big time=70 //" + std::string(900'000, 'x') + "\n"}), "done");
    EXPECT_EQ(send(command::Run{}), "done"); // it may have ended meanwhile
    EXPECT_TRUE(session.wait([&session] {
        return std::any_of(session.nodes.begin(), session.nodes.end(), [](const auto& entry) {
            return entry.second.title == "big" && entry.second.outcome == Outcome::Passed;
        });
    }));
    EXPECT_TRUE(session.wait([&session] { return session.status.state == RunState::Finished; }));
    session.engine.reset();
    EXPECT_EQ(send(command::Undo{}), "nobody listens");
}

/// Where somebody else sits in the place, the session says that it is deaf; once he has gone, by kill -9 too, the name
/// is free.
TEST(CommandSocketTest, APlaceThatIsTakenIsSaidAndTheDeadTakeNone)
{
    EngineHarness world;
    ASSERT_TRUE(world.open()); // the file exists
    world.drop();
    const std::string name = commandSocketName(world.options.session).value();
    {
        const UniqueFd taken(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const sockaddr_un address = addressOf(name);
        ASSERT_EQ(::bind(taken.get(), reinterpret_cast<const sockaddr*>(&address), sizeOf(name)), 0);
        EXPECT_FALSE(sendCommand(world.options.session, command::Pause{})) << "it does not listen: it is nobody";
        const auto deaf = CommandSocket::listen(world.options.session);
        ASSERT_FALSE(deaf);
        EXPECT_EQ(deaf.error().message, "The session cannot be steered from outside while it runs: its socket cannot "
                                        "be made: Address already in use.");
    }
    const auto socket = CommandSocket::listen(world.options.session);
    EXPECT_TRUE(socket) << socket.error().message;
}

TEST(CommandSocketTest, AnswersComeInOrderAndNonsenseEndsNothing)
{
    OpenSession session;
    const std::string path = commandSocketName(session.file()).value();
    const UniqueFd peer = connectTo(path);
    const std::string lines = "{\"command\": \"hint\", \"text\": \"one\"}\nnonsense\n{\"command\": \"undo\"}\n";
    ASSERT_EQ(::write(peer.get(), lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
    EXPECT_EQ(lineFrom(peer.get()), "{\"done\":true}");
    EXPECT_EQ(lineFrom(peer.get()).substr(0, 36), "{\"error\":{\"code\":\"invalid_input\",\"me");
    EXPECT_EQ(lineFrom(peer.get()), "{\"done\":true}");

    { // half a line, and gone
        const UniqueFd other = connectTo(path);
        ASSERT_EQ(::write(other.get(), "{\"comm", 6), 6);
    }
    const UniqueFd endless = connectTo(path); // a line without an end is not kept for ever
    const std::string part(1 << 20, ' ');
    bool closed = false;
    for (int i = 0; i < 64 && !closed; ++i) {
        closed = ::send(endless.get(), part.data(), part.size(), MSG_NOSIGNAL) < 0;
    }
    EXPECT_TRUE(closed);
    std::vector<UniqueFd> many; // more than it listens to at once: the others wait
    for (std::size_t i = 0; i < CommandSocket::mostPeers + 4; ++i) {
        many.push_back(connectTo(path));
    }
    many.erase(many.begin(), many.begin() + 8);
    const auto answer = sendCommand(session.file(), command::AddHint{"two"});
    ASSERT_TRUE(answer);
    EXPECT_TRUE(*answer) << answer->error().message;
}

} // namespace
} // namespace espalier
