// SPDX-License-Identifier: Apache-2.0
#include "tests/llm/scripted_server.h"

#include "core/base/text.h"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace espalier::tests {

namespace {

bool sendAll(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (put <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

bool hasInput(int fd, int milliseconds)
{
    pollfd polled{fd, POLLIN, 0};
    return ::poll(&polled, 1, milliseconds) > 0;
}

/// Head of a request; false when it is not all there.
bool parseHead(std::string_view head, ServedRequest& into)
{
    bool first = true;
    for (const std::string_view line : splitLines(head)) {
        if (first) {
            const auto words = splitOn(line, ' ');
            if (words.size() < 2) {
                return false;
            }
            into.method = words[0];
            into.target = words[1];
            first = false;
        } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
            std::string name(line.substr(0, colon));
            std::transform(name.begin(), name.end(), name.begin(),
                           [](unsigned char byte) { return std::tolower(byte); });
            into.headers[name] = trimmed(line.substr(colon + 1));
        }
    }
    return !first;
}

} // namespace

ScriptedServer::ScriptedServer(Script script) : m_script(std::move(script))
{
    m_listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(m_listener.get(), generic, length) != 0 || ::listen(m_listener.get(), 256) != 0 ||
        ::getsockname(m_listener.get(), generic, &length) != 0) {
        std::abort(); // no loopback, no tests
    }
    m_port = ntohs(address.sin_port);
    m_accepter = std::thread([this] { accept(); });
}

ScriptedServer::ScriptedServer(std::vector<Reply> replies)
    : ScriptedServer([replies = std::move(replies)](const ServedRequest&, std::size_t ordinal) {
          return replies[std::min(ordinal, replies.size() - 1)];
      })
{
}

ScriptedServer::~ScriptedServer()
{
    m_stop = true;
    m_accepter.join();
    for (std::thread& connection : m_connections) {
        connection.join();
    }
}

std::string ScriptedServer::url() const
{
    return fmt::format("http://127.0.0.1:{}", m_port);
}

std::vector<ServedRequest> ScriptedServer::requests() const
{
    const std::lock_guard lock(m_mutex);
    return m_requests;
}

void ScriptedServer::accept()
{
    while (!m_stop) {
        if (hasInput(m_listener.get(), 5)) {
            const int fd = ::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
            if (fd >= 0) {
                m_connections.emplace_back([this, fd] { serve(fd); });
            }
        }
    }
}

void ScriptedServer::serve(int fd)
{
    const UniqueFd owner(fd);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::string bytes;
    while (!m_stop) {
        const auto headEnd = bytes.find("\r\n\r\n");
        ServedRequest request;
        if (headEnd != std::string::npos && parseHead(std::string_view(bytes).substr(0, headEnd), request)) {
            const auto length = static_cast<std::size_t>(std::atoll(request.headers["content-length"].c_str()));
            if (bytes.size() >= headEnd + 4 + length) {
                request.body = bytes.substr(headEnd + 4, length);
                bytes.erase(0, headEnd + 4 + length);
                Reply reply;
                {
                    const std::lock_guard lock(m_mutex);
                    m_requests.push_back(request);
                    reply = m_script(request, m_requests.size() - 1);
                }
                if (!answer(fd, reply)) {
                    return;
                }
                continue;
            }
        }
        if (hasInput(fd, 5)) {
            char buffer[65536];
            const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
            if (got <= 0) {
                return;
            }
            bytes.append(buffer, static_cast<std::size_t>(got));
        }
    }
}

bool ScriptedServer::answer(int fd, const Reply& reply)
{
    const auto hang = [&] {
        char byte;
        while (!m_stop && !(hasInput(fd, 5) && ::recv(fd, &byte, 1, MSG_PEEK) <= 0)) {
        }
        return false;
    };
    if (reply.silent) {
        return reply.end == Reply::End::Hang ? hang() : false;
    }
    std::string head = fmt::format("HTTP/1.1 {} Scripted\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n",
                                   reply.status, reply.contentType);
    for (const std::string& header : reply.headers) {
        head += header + "\r\n";
    }
    if (!sendAll(fd, head + "\r\n")) {
        return false;
    }
    std::vector<std::size_t> cuts = reply.cuts;
    for (std::size_t i = 1; reply.everyByte && i < reply.body.size(); ++i) {
        cuts.push_back(i);
    }
    cuts.push_back(reply.body.size());
    std::size_t at = 0;
    for (const std::size_t cut : cuts) {
        if (cut > at && !sendAll(fd, fmt::format("{:x}\r\n{}\r\n", cut - at, reply.body.substr(at, cut - at)))) {
            return false;
        }
        at = std::max(at, cut);
        if (reply.pauseMilliseconds > 0 && at < reply.body.size()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(reply.pauseMilliseconds));
        }
    }
    switch (reply.end) {
    case Reply::End::Proper:
        return sendAll(fd, "0\r\n\r\n");
    case Reply::End::Hang:
        return hang();
    case Reply::End::Reset: {
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // let what was sent be read first
        const linger now{1, 0};
        ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
    }
    case Reply::End::NoLastChunk:
        return false;
    }
    return false;
}

} // namespace espalier::tests
