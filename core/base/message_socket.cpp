// SPDX-License-Identifier: Apache-2.0
#include "core/base/message_socket.h"

#include <cassert>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

namespace espalier {

Result<std::pair<MessageSocket, MessageSocket>> MessageSocket::pair()
{
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail(ErrorCode::Internal, fmt::format("cannot create a socket pair: {}", std::strerror(errno)));
    }
    for (const int end : ends) {
        const int size = 4 * static_cast<int>(maxBytes);
        ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    }
    return std::pair(MessageSocket(UniqueFd(ends[0])), MessageSocket(UniqueFd(ends[1])));
}

Result<void> MessageSocket::send(std::string_view bytes, const std::vector<int>& descriptors)
{
    assert(bytes.size() <= maxBytes && descriptors.size() <= maxDescriptors && !bytes.empty());
    iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * maxDescriptors)] = {};
    if (!descriptors.empty()) {
        header.msg_control = control;
        header.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
        cmsghdr* message = CMSG_FIRSTHDR(&header);
        message->cmsg_level = SOL_SOCKET;
        message->cmsg_type = SCM_RIGHTS;
        message->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
        std::memcpy(CMSG_DATA(message), descriptors.data(), sizeof(int) * descriptors.size());
    }
    ssize_t put;
    do {
        put = ::sendmsg(m_fd.get(), &header, MSG_NOSIGNAL);
    } while (put < 0 && errno == EINTR);
    if (put < 0) {
        return fail(ErrorCode::WorkerLost, fmt::format("sending to the peer failed: {}", std::strerror(errno)));
    }
    return {};
}

Result<Message> MessageSocket::receive(std::chrono::milliseconds limit)
{
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + limit;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd polled = {m_fd.get(), POLLIN, 0};
        const int ready = ::poll(&polled, 1, limit.count() < 0 ? -1 : static_cast<int>(std::max<long long>(left, 0)));
        if (ready > 0) {
            break;
        }
        if (ready == 0) {
            return fail(ErrorCode::WorkerLost, "the peer missed its deadline");
        }
        if (errno != EINTR) {
            return fail(ErrorCode::Internal, fmt::format("waiting for the peer failed: {}", std::strerror(errno)));
        }
    }
    Message message;
    message.bytes.resize(maxBytes);
    iovec part = {message.bytes.data(), message.bytes.size()};
    msghdr header = {};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * maxDescriptors)];
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    ssize_t got;
    do {
        got = ::recvmsg(m_fd.get(), &header, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        return fail(ErrorCode::WorkerLost, "the peer closed the connection");
    }
    for (cmsghdr* part2 = CMSG_FIRSTHDR(&header); part2; part2 = CMSG_NXTHDR(&header, part2)) {
        if (part2->cmsg_level == SOL_SOCKET && part2->cmsg_type == SCM_RIGHTS) {
            const std::size_t count = (part2->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            const auto* fds = reinterpret_cast<const int*>(CMSG_DATA(part2));
            for (std::size_t i = 0; i < count; ++i) {
                message.descriptors.emplace_back(fds[i]);
            }
        }
    }
    if (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        return fail(ErrorCode::Protocol, "the peer sent a message over the size limit");
    }
    message.bytes.resize(static_cast<std::size_t>(got));
    return message;
}

} // namespace espalier
