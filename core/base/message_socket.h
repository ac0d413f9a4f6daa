// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

struct Message {
    std::string bytes;
    std::vector<UniqueFd> descriptors;
};

/// A Unix SOCK_SEQPACKET end that carries whole messages and descriptors between worker processes.
/// Thread: one. Owns the descriptor. A message is at most maxBytes long and carries at most maxDescriptors.
class MessageSocket
{
public:
    static constexpr std::size_t maxBytes = 160 * 1024;
    static constexpr std::size_t maxDescriptors = 64;

    explicit MessageSocket(UniqueFd fd) : m_fd(std::move(fd)) {}
    static Result<std::pair<MessageSocket, MessageSocket>> pair();

    int fd() const { return m_fd.get(); }
    UniqueFd release() { return std::move(m_fd); }
    Result<void> send(std::string_view bytes, const std::vector<int>& descriptors = {});
    /// Errors: WorkerLost at end of stream; WorkerLost with "deadline" when nothing came in time (limit < 0: waits for
    /// ever).
    Result<Message> receive(std::chrono::milliseconds limit = std::chrono::milliseconds(-1));

private:
    UniqueFd m_fd;
};

} // namespace espalier
