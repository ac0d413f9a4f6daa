// SPDX-License-Identifier: Apache-2.0
#include "core/engine/command_socket.h"

#include "core/base/error_codes.h"
#include "core/engine/command_json.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr int waitingPeers = 16;
constexpr std::chrono::seconds answerLimit{30};

/// In Linux's abstract name space: the name goes with the last descriptor, so that no kill leaves a socket behind.
struct Address {
    explicit Address(std::string_view name)
    {
        value.sun_family = AF_UNIX;
        std::memcpy(value.sun_path + 1, name.data(), std::min(name.size(), sizeof value.sun_path - 1));
        size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&value); }

    sockaddr_un value = {};
    socklen_t size = 0;
};

/// Whoever is at the other end runs as the same user.
bool ofThisUser(int fd)
{
    ucred peer = {};
    socklen_t size = sizeof peer;
    return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

std::unexpected<Error> deaf(int cause)
{
    return fail(ErrorCode::Io,
                fmt::format("The session cannot be steered from outside while it runs: its socket cannot be made: {}.",
                            std::strerror(cause)));
}

Json answerJson(const Result<void>& result)
{
    if (result) {
        return {{"done", true}};
    }
    return {{"error", {{"code", nameOf(result.error().code)}, {"message", result.error().message}}}};
}

Result<void> answerFrom(const std::string& line)
{
    ESPALIER_TRY(const Json json, parseJson(line, "answer"));
    const JsonReader reader(json, "answer");
    if (!reader.has("error")) {
        return {};
    }
    ESPALIER_TRY(const JsonReader error, reader.at("error"));
    ESPALIER_TRY(const JsonReader code, error.at("code"));
    ESPALIER_TRY(const JsonReader message, error.at("message"));
    ESPALIER_TRY(const std::string name, code.string());
    ESPALIER_TRY(std::string text, message.string());
    return fail(errorCodeNamed(name), std::move(text));
}

/// To the process that has the session open; none where nobody listens.
UniqueFd connected(const fs::path& session)
{
    const auto name = commandSocketName(session);
    UniqueFd fd(name ? ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1);
    if (!fd) {
        return {};
    }
    const Address address(*name);
    if (::connect(fd.get(), address.get(), address.size) != 0 || !ofThisUser(fd.get())) {
        return {};
    }
    return fd;
}

} // namespace

Result<std::string> commandSocketName(const fs::path& session)
{
    struct stat facts = {};
    if (::stat(session.c_str(), &facts) != 0) {
        return fail(ErrorCode::NotFound, fmt::format("{} does not exist", session.string()));
    }
    return fmt::format("espalier-{}-{:x}-{}", ::geteuid(), facts.st_dev, facts.st_ino);
}

Result<std::unique_ptr<CommandSocket>> CommandSocket::listen(const fs::path& session)
{
    ESPALIER_TRY(const std::string name, commandSocketName(session));
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const Address address(name);
    if (!fd || ::bind(fd.get(), address.get(), address.size) != 0 || ::listen(fd.get(), waitingPeers) != 0) {
        return deaf(errno);
    }
    return std::unique_ptr<CommandSocket>(new CommandSocket(std::move(fd)));
}

CommandSocket::CommandSocket(UniqueFd listener) : m_listener(std::move(listener)) {}

std::vector<int> CommandSocket::descriptors() const
{
    std::vector<int> descriptors;
    if (m_peers.size() < mostPeers) {
        descriptors.push_back(m_listener.get());
    }
    for (const Peer& peer : m_peers) {
        descriptors.push_back(peer.channel.readFd());
    }
    return descriptors;
}

void CommandSocket::accept()
{
    while (m_peers.size() < mostPeers) {
        UniqueFd in(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!in) {
            return;
        }
        UniqueFd out(ofThisUser(in.get()) ? ::fcntl(in.get(), F_DUPFD_CLOEXEC, 0) : -1);
        if (out) {
            m_peers.push_back({m_nextPeer++, LineChannel(std::move(in), std::move(out), longestLine)});
        }
    }
}

std::vector<CommandSocket::Asked> CommandSocket::receive()
{
    accept();
    std::vector<Asked> asked;
    std::erase_if(m_peers, [&asked](Peer& peer) {
        pollfd polled = {peer.channel.readFd(), POLLIN, 0};
        if (::poll(&polled, 1, 0) <= 0) {
            return false;
        }
        const auto more = peer.channel.fill();
        while (const auto line = peer.channel.next()) {
            asked.push_back({peer.id, command::parseCommand(*line)});
        }
        if (!more) { // too long, or gone
            (void)peer.channel.send(answerJson(std::unexpected(more.error())).dump(), 0);
        }
        return !more || !*more;
    });
    return asked;
}

void CommandSocket::answer(std::int64_t id, const Result<void>& result)
{
    const auto peer = std::find_if(m_peers.begin(), m_peers.end(), [id](const Peer& one) { return one.id == id; });
    if (peer == m_peers.end()) {
        return; // it did not wait
    }
    const std::string line = answerJson(result).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (!peer->channel.send(line, 0)) {
        m_peers.erase(peer);
    }
}

bool somebodyListens(const fs::path& session)
{
    return static_cast<bool>(connected(session));
}

std::optional<Result<void>> sendCommand(const fs::path& session, const command::Command& command)
{
    UniqueFd fd = connected(session);
    if (!fd) {
        return std::nullopt;
    }
    UniqueFd out(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    LineChannel channel(std::move(fd), std::move(out), CommandSocket::longestLine);
    const std::string line = command::toJson(command).dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto end = std::chrono::steady_clock::now() + answerLimit;
    const auto left = [end] {
        const auto time = end - std::chrono::steady_clock::now();
        return static_cast<int>(
            std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(time).count()));
    };
    if (!channel.send(line, left())) {
        return std::nullopt;
    }
    for (;;) {
        pollfd polled = {channel.readFd(), POLLIN, 0};
        const int limit = left();
        if (::poll(&polled, 1, limit) <= 0 && limit == 0) {
            return fail(ErrorCode::Busy,
                        fmt::format("The process that has {} open does not answer: see whether it is stopped.",
                                    session.string()));
        }
        const auto more = channel.fill();
        if (const auto answer = channel.next()) {
            return answerFrom(*answer);
        }
        if (!more || !*more) {
            return std::nullopt;
        }
    }
}

} // namespace espalier
