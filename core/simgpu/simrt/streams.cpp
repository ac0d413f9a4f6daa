// SPDX-License-Identifier: Apache-2.0
// Streams, events and waiting. A candidate that waits gets what it waits for, and the judge hears of it.
#include "core/simgpu/simrt/runtime.h"

using namespace espalier::sim;

namespace {

Runtime& runtime()
{
    return Runtime::instance();
}

cudaError_t wait(const char* what, std::optional<std::uint32_t> stream)
{
    if (!stream) {
        return runtime().done(cudaErrorInvalidResourceHandle);
    }
    runtime().noteMisuse(what);
    return runtime().synchronize(*stream);
}

/// A plain stream on which the event's work is awaited, so that waiting for an event runs no more than that.
cudaError_t waitForEvent(const char* what, cudaEvent_t event)
{
    const auto id = runtime().eventId(event);
    const cudaStream_t helper = id ? runtime().createStream(false) : nullptr;
    const auto stream = helper ? runtime().streamId(helper) : std::nullopt;
    if (!stream) {
        return runtime().done(cudaErrorInvalidResourceHandle);
    }
    runtime().send(ByteWriter().put(Request::StreamWait).put(*stream).put(*id));
    const cudaError_t code = wait(what, stream);
    runtime().destroyStream(helper);
    return code;
}

} // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags)
{
    *stream = runtime().createStream((flags & cudaStreamNonBlocking) == 0);
    return runtime().done(*stream ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return runtime().done(runtime().destroyStream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned)
{
    *event = runtime().createEvent();
    return runtime().done(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t* event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return runtime().done(runtime().destroyEvent(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const auto eventId = runtime().eventId(event);
    const auto streamId = runtime().streamId(stream);
    if (!eventId || !streamId) {
        return runtime().done(cudaErrorInvalidResourceHandle);
    }
    runtime().send(ByteWriter().put(Request::EventRecord).put(*eventId).put(*streamId));
    return runtime().done(cudaSuccess);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned)
{
    return cudaEventRecord(event, stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    const auto eventId = runtime().eventId(event);
    const auto streamId = runtime().streamId(stream);
    if (!eventId || !streamId) {
        return runtime().done(cudaErrorInvalidResourceHandle);
    }
    runtime().send(ByteWriter().put(Request::StreamWait).put(*streamId).put(*eventId));
    return runtime().done(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return wait("cudaStreamSynchronize", runtime().streamId(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return wait("cudaStreamQuery", runtime().streamId(stream));
}

cudaError_t cudaDeviceSynchronize()
{
    return wait("cudaDeviceSynchronize", allStreams);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return waitForEvent("cudaEventSynchronize", event);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return waitForEvent("cudaEventQuery", event);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status)
{
    *status = cudaStreamCaptureStatusNone;
    return runtime().done(runtime().streamId(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority)
{
    *priority = 0;
    return runtime().done(cudaSuccess);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags)
{
    *flags = stream == runtime().given() ? cudaStreamNonBlocking : cudaStreamDefault;
    return runtime().done(cudaSuccess);
}

} // extern "C"
