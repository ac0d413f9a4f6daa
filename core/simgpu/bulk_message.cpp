// SPDX-License-Identifier: Apache-2.0
#include "core/simgpu/bulk_message.h"

#include "core/simgpu/wire.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace espalier::sim {

namespace {

constexpr std::uint8_t inlineBody = 0;
constexpr std::uint8_t bodyInFile = 1;

std::unexpected<Error> systemFailure(const char* what)
{
    const ErrorCode code = errno == ENOMEM || errno == ENOSPC ? ErrorCode::OutOfMemory : ErrorCode::Internal;
    return fail(code, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

} // namespace

Result<UniqueFd> memfdOfSize(std::string_view name, std::uint64_t bytes)
{
    UniqueFd fd(::memfd_create(std::string(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
        return systemFailure("create shared memory");
    }
    ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    return fd;
}

Result<UniqueFd> memfdOf(std::string_view name, std::string_view bytes)
{
    ESPALIER_TRY(UniqueFd fd, memfdOfSize(name, bytes.size()));
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t put = ::pwrite(fd.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
        if (put < 0 && errno != EINTR) {
            return systemFailure("fill shared memory");
        }
        done += put > 0 ? static_cast<std::size_t>(put) : 0;
    }
    return fd;
}

Result<void> sendBulk(MessageSocket& socket, std::string_view bytes)
{
    std::string whole;
    if (bytes.size() < MessageSocket::maxBytes) {
        whole.reserve(bytes.size() + 1);
        whole.push_back(static_cast<char>(inlineBody));
        whole.append(bytes);
        return socket.send(whole);
    }
    ESPALIER_TRY(const UniqueFd fd, memfdOf("espalier-bulk", bytes));
    return socket.send(ByteWriter().put(bodyInFile).put(std::uint64_t{bytes.size()}).bytes(), {fd.get()});
}

Result<std::string> bulkOf(Message message)
{
    ByteReader from(message.bytes);
    if (from.get<std::uint8_t>() == inlineBody) {
        return message.bytes.substr(1);
    }
    const auto size = from.get<std::uint64_t>();
    constexpr std::uint64_t most = std::uint64_t{256} << 20;
    if (!from.done() || message.descriptors.size() != 1 || size > most) {
        return fail(ErrorCode::Protocol, "a worker sent a malformed long message");
    }
    std::string body(size, '\0');
    std::uint64_t have = 0;
    while (have < size) {
        const ssize_t got =
            ::pread(message.descriptors.front().get(), body.data() + have, size - have, static_cast<off_t>(have));
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return fail(ErrorCode::Protocol, "a worker sent a long message that is cut short");
        }
        have += got > 0 ? static_cast<std::uint64_t>(got) : 0;
    }
    return body;
}

} // namespace espalier::sim
