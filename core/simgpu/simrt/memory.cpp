// SPDX-License-Identifier: Apache-2.0
// Copies, memsets and allocations.
#include "core/simgpu/simrt/runtime.h"

#include <algorithm>
#include <cstring>

using namespace espalier::sim;

namespace {

constexpr std::size_t maxCopyIn = std::size_t{64} << 20;

Runtime& runtime()
{
    return Runtime::instance();
}

cudaError_t set(void* to, int value, std::size_t count, cudaStream_t stream)
{
    const auto id = runtime().streamId(stream);
    if (!id) {
        return runtime().done(cudaErrorInvalidResourceHandle);
    }
    if (!isDevice(to)) {
        return runtime().done(cudaErrorInvalidValue);
    }
    if (count != 0) {
        ByteWriter message;
        message.put(Request::Memset).put(*id).put(addressOf(to)).put(static_cast<std::uint8_t>(value));
        message.put(std::uint64_t{count});
        runtime().send(message);
    }
    return runtime().done(cudaSuccess);
}

/// Host bytes are taken now, in pieces that fit into a message: a stream copy from pageable memory does the same.
cudaError_t copyIn(std::uint64_t to, const void* from, std::size_t count, std::uint32_t stream)
{
    if (count > maxCopyIn) {
        runtime().noteUnsupported("a copy of more than 64 MiB from the host");
        return runtime().done(cudaErrorNotSupported);
    }
    for (std::size_t at = 0; at < count; at += maxInlineCopy) {
        const std::size_t piece = std::min(maxInlineCopy, count - at);
        ByteWriter message;
        message.put(Request::CopyIn).put(stream).put(to + at).text({static_cast<const char*>(from) + at, piece});
        runtime().send(message);
    }
    return runtime().done(cudaSuccess);
}

cudaError_t copy(void* to, const void* from, std::size_t count, cudaStream_t stream)
{
    const auto id = runtime().streamId(stream);
    if (!id) {
        return runtime().done(cudaErrorInvalidResourceHandle);
    }
    if (count == 0) {
        return runtime().done(cudaSuccess);
    }
    if (!isDevice(to)) {
        if (isDevice(from)) {
            runtime().noteUnsupported("a copy from the device to the host");
            return runtime().done(cudaErrorNotSupported);
        }
        std::memmove(to, from, count);
        return runtime().done(cudaSuccess);
    }
    if (!isDevice(from)) {
        return copyIn(addressOf(to), from, count, *id);
    }
    ByteWriter message;
    message.put(Request::CopyDevice).put(*id).put(addressOf(to)).put(addressOf(from)).put(std::uint64_t{count});
    runtime().send(message);
    return runtime().done(cudaSuccess);
}

cudaError_t notPermitted(const char* what)
{
    runtime().noteMisuse(what);
    return runtime().done(cudaErrorNotPermitted);
}

} // namespace

extern "C" {

cudaError_t cudaMemsetAsync(void* to, int value, size_t count, cudaStream_t stream)
{
    return set(to, value, count, stream);
}

cudaError_t cudaMemset(void* to, int value, size_t count)
{
    runtime().noteMisuse("cudaMemset, which does not run on the given stream");
    return set(to, value, count, nullptr);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t count, cudaMemcpyKind, cudaStream_t stream)
{
    return copy(to, from, count, stream);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t count, cudaMemcpyKind)
{
    runtime().noteMisuse("cudaMemcpy, which synchronises");
    const cudaError_t code = copy(to, from, count, nullptr);
    return code == cudaSuccess ? runtime().synchronize(legacyStream) : code;
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t offset, cudaMemcpyKind,
                                    cudaStream_t stream)
{
    const ShimVariable* variable = runtime().variable(symbol);
    if (!variable) {
        return runtime().done(cudaErrorInvalidSymbol);
    }
    if (offset > variable->bytes || count > variable->bytes - offset) {
        return runtime().done(cudaErrorInvalidValue);
    }
    return copy(reinterpret_cast<void*>(variable->address + offset), from, count, stream);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t count, size_t offset, cudaMemcpyKind kind)
{
    runtime().noteMisuse("cudaMemcpyToSymbol, which synchronises");
    const cudaError_t code = cudaMemcpyToSymbolAsync(symbol, from, count, offset, kind, nullptr);
    return code == cudaSuccess ? runtime().synchronize(legacyStream) : code;
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol)
{
    const ShimVariable* variable = runtime().variable(symbol);
    if (!variable) {
        return runtime().done(cudaErrorInvalidSymbol);
    }
    *pointer = reinterpret_cast<void*>(variable->address);
    return runtime().done(cudaSuccess);
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol)
{
    const ShimVariable* variable = runtime().variable(symbol);
    if (!variable) {
        return runtime().done(cudaErrorInvalidSymbol);
    }
    *bytes = variable->bytes;
    return runtime().done(cudaSuccess);
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream)
{
    *pointer = nullptr;
    if (!runtime().streamId(stream)) {
        return runtime().done(cudaErrorInvalidResourceHandle);
    }
    if (bytes == 0) {
        return runtime().done(cudaSuccess);
    }
    const auto reply = runtime().ask(ByteWriter().put(Request::Malloc).put(std::uint64_t{bytes}));
    const std::uint64_t address = reply ? ByteReader(*reply).get<std::uint64_t>() : 0;
    *pointer = reinterpret_cast<void*>(address);
    return runtime().done(address != 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream)
{
    const auto id = runtime().streamId(stream);
    if (!id) {
        return runtime().done(cudaErrorInvalidResourceHandle);
    }
    if (pointer) {
        runtime().send(ByteWriter().put(Request::Free).put(*id).put(addressOf(pointer)));
    }
    return runtime().done(cudaSuccess);
}

cudaError_t cudaMalloc(void**, size_t)
{
    return notPermitted("cudaMalloc");
}

cudaError_t cudaMallocManaged(void**, size_t, unsigned)
{
    return notPermitted("cudaMallocManaged");
}

cudaError_t cudaMallocHost(void**, size_t)
{
    return notPermitted("cudaMallocHost");
}

cudaError_t cudaHostAlloc(void**, size_t, unsigned)
{
    return notPermitted("cudaHostAlloc");
}

cudaError_t cudaFree(void* pointer)
{
    // cudaFree(nullptr) is a widespread way to say "start the runtime".
    return pointer ? notPermitted("cudaFree") : runtime().done(cudaSuccess);
}

cudaError_t cudaFreeHost(void* pointer)
{
    return pointer ? notPermitted("cudaFreeHost") : runtime().done(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer)
{
    *attributes = {};
    attributes->type = isDevice(pointer) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    attributes->devicePointer = isDevice(pointer) ? const_cast<void*>(pointer) : nullptr;
    return runtime().done(cudaSuccess);
}

} // extern "C"
