// SPDX-License-Identifier: Apache-2.0
// What the runner itself asks of the shim (simrt_api.h).
#include "core/simgpu/simrt_api.h"

#include "core/simgpu/simrt/runtime.h"

namespace espalier::sim {

int notHere(std::string_view name)
{
    Runtime::instance().noteUnsupported(name);
    return Runtime::instance().done(cudaErrorNotSupported);
}

namespace {

int good(bool answer)
{
    return answer ? 0 : -1;
}

int attach(int socket)
{
    return good(Runtime::instance().attach(socket));
}

int mapNext(std::uint64_t mappedBytes, int writable, std::uint64_t offset, std::uint64_t* address)
{
    ByteWriter message;
    message.put(Request::MapNext).put(mappedBytes).put(static_cast<std::uint8_t>(writable != 0)).put(offset);
    const auto reply = Runtime::instance().ask(message);
    if (!reply) {
        return -1;
    }
    ByteReader from(*reply);
    const bool granted = from.get<std::uint8_t>() == 1;
    *address = from.get<std::uint64_t>();
    return good(granted && from.done());
}

int unmap(std::uint64_t address)
{
    return good(Runtime::instance().send(ByteWriter().put(Request::Unmap).put(address)));
}

void* stream()
{
    return Runtime::instance().given();
}

int askForError(Request request, int* stickyError)
{
    const auto reply = Runtime::instance().ask(ByteWriter().put(request));
    *stickyError = reply ? ByteReader(*reply).get<std::int32_t>() : 0;
    return good(reply.has_value());
}

int beginCall(int* stickyError)
{
    return askForError(Request::BeginCall, stickyError);
}

int endCall(int status, double hostMicroseconds)
{
    return good(
        Runtime::instance().send(ByteWriter().put(Request::EndCall).put(std::int32_t{status}).put(hostMicroseconds)));
}

int endBlock()
{
    return good(Runtime::instance().send(ByteWriter().put(Request::EndBlock)));
}

int status(int* stickyError)
{
    return askForError(Request::Status, stickyError);
}

const char* errorName(int error)
{
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

constexpr EspalierSimrtApi api = {
    espalierSimrtVersion, attach, mapNext, unmap, stream, beginCall, endCall, endBlock, status, errorName};

} // namespace

} // namespace espalier::sim

extern "C" const EspalierSimrtApi* espalierSimrtApi()
{
    return &espalier::sim::api;
}
