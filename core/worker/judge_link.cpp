// SPDX-License-Identifier: Apache-2.0
#include "core/worker/judge_link.h"

#include "core/base/text.h"
#include "core/worker/launcher.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace espalier::worker {

namespace {

void makeNonBlocking(int fd)
{
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

} // namespace

JudgeLink::JudgeLink(Subprocess process, UniqueFd epoll)
    : m_process(std::move(process)), m_epoll(std::move(epoll)),
      m_lines(std::move(m_process.output()), UniqueFd(), maxLineBytes)
{
    makeNonBlocking(m_process.input().get());
    makeNonBlocking(m_lines.readFd());
    makeNonBlocking(m_process.error().get());
    watch(m_lines.readFd(), EPOLLIN, EPOLL_CTL_ADD);
    watch(m_process.error().get(), EPOLLIN, EPOLL_CTL_ADD);
}

Result<JudgeLink> JudgeLink::start(const std::vector<std::string>& command)
{
    ProcessSpec spec;
    spec.argv = command;
    spec.environment = launcherEnvironment();
    spec.standardInput = ProcessSpec::Stream::Pipe;
    ESPALIER_TRY(Subprocess process, Subprocess::start(spec));
    UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll) {
        return fail(ErrorCode::Internal, fmt::format("cannot watch the judge: {}", std::strerror(errno)));
    }
    return JudgeLink(std::move(process), std::move(epoll));
}

void JudgeLink::watch(int fd, unsigned events, int operation)
{
    epoll_event event = {};
    event.events = events;
    event.data.fd = fd;
    ::epoll_ctl(m_epoll.get(), operation, fd, &event);
}

void JudgeLink::send(const ToJudge& message)
{
    m_unsent.push_back(encode(message) + '\n');
    flush();
}

void JudgeLink::flush()
{
    const int fd = m_process.input().get();
    while (!m_unsent.empty() && fd >= 0) {
        const std::string& line = m_unsent.front();
        const ssize_t put = ::write(fd, line.data() + m_sentOfFirst, line.size() - m_sentOfFirst);
        if (put < 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno != EAGAIN) {
                m_unsent.clear(); // the judge has gone: receive() will say how
                m_sentOfFirst = 0;
            }
            break;
        }
        m_sentOfFirst += static_cast<std::size_t>(put);
        if (m_sentOfFirst == line.size()) {
            m_unsent.pop_front();
            m_sentOfFirst = 0;
        }
    }
    const bool wanted = !m_unsent.empty();
    if (wanted != m_watchesInput) {
        watch(fd, EPOLLOUT, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL);
        m_watchesInput = wanted;
    }
}

void JudgeLink::drainErrors()
{
    char buffer[4096];
    constexpr std::size_t kept = 2000;
    while (m_process.error()) {
        const ssize_t got = ::read(m_process.error().get(), buffer, sizeof buffer);
        if (got == 0) {
            m_process.error().reset(); // leaves the epoll set with its last descriptor
        }
        if (got <= 0) {
            break;
        }
        m_errors.append(buffer, static_cast<std::size_t>(got));
        if (m_errors.size() > kept) {
            m_errors.erase(0, m_errors.size() - kept);
        }
    }
}

Error JudgeLink::ended()
{
    const auto status = m_process.wait(std::chrono::milliseconds(500));
    drainErrors();
    std::string said = printable(trimmed(m_errors), 600);
    return {ErrorCode::WorkerLost,
            fmt::format("the judge ended ({}){}{}", status ? status->text() : "its output closed",
                        said.empty() ? "" : "; it said: ", said)};
}

Result<std::vector<FromJudge>> JudgeLink::receive()
{
    std::vector<FromJudge> messages;
    flush();
    drainErrors();
    while (!m_failure) {
        const std::size_t before = messages.size();
        const auto more = m_lines.fill();
        while (auto line = m_lines.next()) {
            auto message = decodeFromJudge(*line);
            if (!message) {
                m_failure = Error{ErrorCode::Protocol,
                                  fmt::format("the judge broke the protocol: {}", message.error().message)};
                break;
            }
            messages.push_back(std::move(*message));
        }
        if (m_failure) {
            break;
        }
        if (!more) {
            m_failure = more.error();
        } else if (!*more) {
            m_failure = ended();
        } else if (messages.size() == before) {
            break; // nothing more for now; half a line is waited for
        }
    }
    if (m_failure && messages.empty()) {
        return std::unexpected(*m_failure);
    }
    return messages;
}

void JudgeLink::quit(std::chrono::milliseconds patience)
{
    send(Quit{});
    m_process.stop(patience);
}

} // namespace espalier::worker
