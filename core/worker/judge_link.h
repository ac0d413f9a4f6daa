// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/line_channel.h"
#include "core/base/subprocess.h"
#include "core/worker/protocol.h"

#include <deque>
#include <string>
#include <vector>

namespace espalier::worker {

/// One judge process and the lines to and from it; never blocks. Thread: the engine's. Owns the process.
class JudgeLink
{
public:
    static Result<JudgeLink> start(const std::vector<std::string>& command);
    JudgeLink(JudgeLink&&) = default;
    JudgeLink& operator=(JudgeLink&&) = default;

    /// Queues the message and writes as much as the pipe takes.
    void send(const ToJudge& message);
    /// What has arrived. Errors: WorkerLost when the judge ended (with how and its last words), Protocol when it sent
    /// something else than messages. Messages before the error are delivered first.
    Result<std::vector<FromJudge>> receive();

    int epoll() const { return m_epoll.get(); }
    bool idle() const { return m_unsent.empty(); }
    void quit(std::chrono::milliseconds patience);

private:
    JudgeLink(Subprocess process, UniqueFd epoll);
    void watch(int fd, unsigned events, int operation);
    void flush();
    void drainErrors();
    Error ended();

    Subprocess m_process;
    UniqueFd m_epoll;
    LineChannel m_lines;
    std::deque<std::string> m_unsent;
    std::size_t m_sentOfFirst = 0;
    bool m_watchesInput = false;
    std::string m_errors; ///< tail of what the judge wrote to stderr
    std::optional<Error> m_failure;
};

} // namespace espalier::worker
