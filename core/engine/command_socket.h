// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/line_channel.h"
#include "core/base/result.h"
#include "core/engine/command.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

/// Where the process that has a session open listens for commands: a name in Linux's abstract space (unix(7)), of the
/// user and the file's device and inode, so that it is the same for every path to the session. Errors: NotFound.
Result<std::string> commandSocketName(const std::filesystem::path& session);

/// The engine's ear: one JSON line a command (core/engine/command_json.h), one JSON line an answer, {"done": true} or
/// {"error": {"code": …, "message": …}}, in the order of the commands. Only processes of the same user are listened to.
/// Whoever listens must hold the session's lock. Thread: the engine's; nothing blocks. Owns the socket.
class CommandSocket
{
public:
    static constexpr std::size_t longestLine = std::size_t{8} << 20; ///< a kernel of 1 MiB, escaped
    static constexpr std::size_t mostPeers = 16;                     ///< who comes later waits

    /// Errors: Io: one sentence.
    static Result<std::unique_ptr<CommandSocket>> listen(const std::filesystem::path& session);
    CommandSocket(const CommandSocket&) = delete;
    CommandSocket& operator=(const CommandSocket&) = delete;

    std::vector<int> descriptors() const; ///< to be polled for reading
    struct Asked {
        std::int64_t peer = 0;
        Result<command::Command> command; ///< or what is wrong with the line
    };
    /// Takes what has arrived. Every one is to be answered, in this order.
    std::vector<Asked> receive();
    void answer(std::int64_t peer, const Result<void>& result);

private:
    struct Peer {
        std::int64_t id = 0;
        LineChannel channel;
    };

    explicit CommandSocket(UniqueFd listener);
    void accept();

    UniqueFd m_listener;
    std::vector<Peer> m_peers;
    std::int64_t m_nextPeer = 1;
};

bool somebodyListens(const std::filesystem::path& session);

/// Sends one command to the process that has the session open and waits for its answer. nullopt: none listens, or it
/// ended without looking at the command. Errors: what it answered; Busy when it does not answer within 30 seconds.
std::optional<Result<void>> sendCommand(const std::filesystem::path& session, const command::Command& command);

} // namespace espalier
