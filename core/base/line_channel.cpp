// SPDX-License-Identifier: Apache-2.0
#include "core/base/line_channel.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

namespace espalier {

LineChannel::LineChannel(UniqueFd in, UniqueFd out, std::size_t cap)
    : m_in(std::move(in)), m_out(std::move(out)), m_cap(cap)
{
    std::signal(SIGPIPE, SIG_IGN); // a peer that died is an error value, not the end of us
    if (m_out) {
        ::fcntl(m_out.get(), F_SETFL, ::fcntl(m_out.get(), F_GETFL) | O_NONBLOCK);
    }
}

Result<bool> LineChannel::fill()
{
    char buffer[65536];
    ssize_t got;
    do {
        got = ::read(m_in.get(), buffer, sizeof buffer);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        if (errno == EAGAIN) {
            return true;
        }
        return fail(ErrorCode::WorkerLost, fmt::format("reading from the peer failed: {}", std::strerror(errno)));
    }
    if (got == 0) {
        return false;
    }
    m_buffer.append(buffer, static_cast<std::size_t>(got));
    if (m_buffer.size() > m_cap && m_buffer.find('\n') == std::string::npos) {
        return fail(ErrorCode::Protocol, fmt::format("the peer sent a line of more than {} bytes", m_cap));
    }
    return true;
}

std::optional<std::string> LineChannel::next()
{
    const auto end = m_buffer.find('\n', m_scanned);
    if (end == std::string::npos) {
        m_scanned = m_buffer.size();
        return std::nullopt;
    }
    std::string line = m_buffer.substr(0, end);
    m_buffer.erase(0, end + 1);
    m_scanned = 0;
    return line;
}

Result<void> LineChannel::send(std::string_view line, int milliseconds)
{
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
    std::string framed(line);
    framed.push_back('\n');
    std::string_view rest = framed;
    while (!rest.empty()) {
        const ssize_t put = ::write(m_out.get(), rest.data(), rest.size());
        if (put >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(put));
        } else if (errno == EAGAIN) {
            if (milliseconds >= 0 && Clock::now() >= end) {
                return fail(ErrorCode::WorkerLost, "the peer stopped reading");
            }
            pollfd polled = {m_out.get(), POLLOUT, 0};
            ::poll(&polled, 1, 50);
        } else if (errno != EINTR) {
            return fail(ErrorCode::WorkerLost, fmt::format("writing to the peer failed: {}", std::strerror(errno)));
        }
    }
    return {};
}

} // namespace espalier
