// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdint>
#include <sys/socket.h>
#include <sys/uio.h>

/// Messages of the spike between its judge and its runners: one Request, one Reply, over a SOCK_SEQPACKET pair on
/// descriptor 3 of the runner. A request may carry one descriptor.
namespace spike {

enum class Verb : std::uint32_t {
    Start,      ///< initialise driver and context: values[0] = ms
    Load,       ///< dlopen the library whose descriptor comes along
    Map,        ///< import the descriptor, map it as `slot`: values[0] = ms
    Block,      ///< `count` calls of `elements` over the sets of slots; values = event microseconds
    Poke,       ///< launch a one-element write at slot's address + `offset`; then synchronise
    CopyInto,   ///< the same by the copy engine (cuMemcpyHtoD)
    MemsetInto, ///< the same by cuMemsetD8
    RemapWrite, ///< hostile: import the kept descriptor of `slot` again, map it read-write, write through it
    Libraries,  ///< text = the files mapped into the process
    Quit,
};

constexpr std::uint32_t maxCalls = 128;

struct Request {
    Verb verb = Verb::Start;
    std::uint32_t slot = 0;
    std::uint32_t readWrite = 0;
    std::uint32_t count = 0;
    std::uint32_t launch = 0;   ///< 0: displacement and events only
    std::uint32_t displace = 1; ///< 0: no displacement
    std::uint32_t sets = 1;     ///< inputs are slots 0, 2, 4 ...; outputs 1, 3, 5 ...
    std::uint32_t unused = 0;
    std::uint64_t bytes = 0;
    std::uint64_t elements = 0;
    std::int64_t offset = 0;
};

struct Reply {
    std::int32_t status = 0;
    std::uint32_t count = 0;
    double hostMicroseconds = 0;
    double values[maxCalls] = {};
    char text[6000] = {};
};

template <typename T>
bool sendMessage(int socket, const T& message, int descriptor = -1)
{
    iovec part{const_cast<T*>(&message), sizeof(T)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (descriptor >= 0) {
        header.msg_control = control;
        header.msg_controllen = sizeof(control);
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        *reinterpret_cast<int*>(CMSG_DATA(rights)) = descriptor;
    }
    return sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(T));
}

/// One try without waiting: 1 received, 0 nothing there yet, -1 the peer is gone.
template <typename T>
int receiveMessage(int socket, T& message, int* descriptor = nullptr)
{
    iovec part{&message, sizeof(T)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const ssize_t size = recvmsg(socket, &header, MSG_DONTWAIT);
    if (size < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    }
    if (size != static_cast<ssize_t>(sizeof(T))) {
        return -1;
    }
    if (descriptor) {
        *descriptor = -1;
        if (cmsghdr* rights = CMSG_FIRSTHDR(&header)) {
            *descriptor = *reinterpret_cast<int*>(CMSG_DATA(rights));
        }
    }
    return 1;
}

} // namespace spike
