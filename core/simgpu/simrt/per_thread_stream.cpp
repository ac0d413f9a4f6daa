// SPDX-License-Identifier: Apache-2.0
// The names that code built with --default-stream per-thread calls: stream 0 means the thread's own stream.
#include "core/simgpu/simrt/runtime.h"

namespace {

cudaStream_t own(cudaStream_t stream)
{
    return stream ? stream : cudaStreamPerThread;
}

} // namespace

extern "C" {

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared,
                                    cudaStream_t stream)
{
    return __cudaLaunchKernel(kernel, grid, block, args, shared, own(stream));
}

cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** args, size_t shared,
                                  cudaStream_t stream)
{
    return cudaLaunchKernel(function, grid, block, args, shared, own(stream));
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function, void** args)
{
    cudaLaunchConfig_t copy = *config;
    copy.stream = own(copy.stream);
    return cudaLaunchKernelExC(&copy, function, args);
}

cudaError_t cudaMemsetAsync_ptsz(void* to, int value, size_t count, cudaStream_t stream)
{
    return cudaMemsetAsync(to, value, count, own(stream));
}

cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, size_t count, cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, count, kind, own(stream));
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* from, size_t count, size_t offset,
                                         cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpyToSymbolAsync(symbol, from, count, offset, kind, own(stream));
}

cudaError_t cudaMallocAsync_ptsz(void** pointer, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync(pointer, bytes, own(stream));
}

cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream)
{
    return cudaFreeAsync(pointer, own(stream));
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecord(event, own(stream));
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return cudaStreamWaitEvent(own(stream), event, flags);
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
    return cudaStreamSynchronize(own(stream));
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status)
{
    return cudaStreamIsCapturing(own(stream), status);
}

} // extern "C"
