// SPDX-License-Identifier: Apache-2.0
// Entries for the simulated device's tests: y = 2 x in honest, wrong and forbidden ways. Built as candidates are.
#include <cstdint>
#include <cuda_runtime.h>

#define ENTRY(name)                                                                                                    \
    extern "C" cudaError_t name(const float* x, float* y, int64_t n, void* workspace, size_t workspaceBytes,           \
                                cudaStream_t stream)

namespace {

constexpr int threads = 128;

__constant__ float factor[2];
__device__ float addend[2] = {0.5f, 0.25f};
__device__ float* viaAddress = &addend[1];

unsigned blocksFor(int64_t n)
{
    return static_cast<unsigned>((n + threads - 1) / threads);
}

__global__ void twice(const float* x, float* y, int64_t n)
{
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i];
    }
}

__global__ void __launch_bounds__(64) narrow(float* y)
{
    y[threadIdx.x] = 0;
}

__global__ void withVariables(const float* x, float* y, int64_t n)
{
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = factor[1] * x[i] + addend[0] + *viaAddress;
    }
}

__global__ void throughShared(const float* x, float* y, int64_t n)
{
    extern __shared__ float tile[];
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    tile[threadIdx.x + 12000] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) {
        y[i] = 2.0f * tile[threadIdx.x + 12000];
    }
}

__global__ void storeTo(float* y, int64_t at)
{
    y[at] = 1.0f;
}

__global__ void endless(volatile float* y)
{
    while (y[0] != 12345.0f) {
        y[1] = y[1] + 1.0f;
    }
}

} // namespace

ENTRY(honest)
{
    twice<<<blocksFor(n), threads, 0, stream>>>(x, y, n);
    return cudaGetLastError();
}

ENTRY(zeros)
{
    return cudaMemsetAsync(y, 0, n * sizeof(float), stream);
}

ENTRY(pastTheEnd)
{
    storeTo<<<1, 1, 0, stream>>>(y, n);
    return cudaGetLastError();
}

ENTRY(memsetPastTheEnd)
{
    return cudaMemsetAsync(y, 0, n * sizeof(float) + 4, stream);
}

ENTRY(writesInput)
{
    storeTo<<<1, 1, 0, stream>>>(const_cast<float*>(x), 0);
    return cudaGetLastError();
}

ENTRY(joinedSideStream)
{
    cudaStream_t side;
    cudaEvent_t fork, join;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(side, fork, 0);
    twice<<<blocksFor(n), threads, 0, side>>>(x, y, n);
    cudaEventRecord(join, side);
    cudaStreamWaitEvent(stream, join, 0);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(side);
    return cudaGetLastError();
}

ENTRY(unjoinedSideStream)
{
    cudaStream_t side;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    twice<<<blocksFor(n), threads, 0, side>>>(x, y, n);
    cudaStreamDestroy(side);
    return cudaGetLastError();
}

ENTRY(defaultStream)
{
    twice<<<blocksFor(n), threads>>>(x, y, n);
    return cudaGetLastError();
}

ENTRY(variables)
{
    const float values[2] = {7.0f, 2.0f};
    cudaMemcpyToSymbolAsync(factor, values, sizeof values, 0, cudaMemcpyHostToDevice, stream);
    withVariables<<<blocksFor(n), threads, 0, stream>>>(x, y, n);
    return cudaGetLastError();
}

ENTRY(temporary)
{
    float* copy = nullptr;
    cudaMallocAsync(reinterpret_cast<void**>(&copy), n * sizeof(float), stream);
    cudaMemcpyAsync(copy, x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    twice<<<blocksFor(n), threads, 0, stream>>>(copy, y, n);
    cudaFreeAsync(copy, stream);
    return cudaGetLastError();
}

ENTRY(useAfterFree)
{
    float* copy = nullptr;
    cudaMallocAsync(reinterpret_cast<void**>(&copy), n * sizeof(float), stream);
    cudaFreeAsync(copy, stream);
    twice<<<blocksFor(n), threads, 0, stream>>>(copy, y, n);
    return cudaGetLastError();
}

ENTRY(plainMalloc)
{
    void* memory = nullptr;
    return cudaMalloc(&memory, 1024);
}

ENTRY(waits)
{
    twice<<<blocksFor(n), threads, 0, stream>>>(x, y, n);
    return cudaStreamSynchronize(stream);
}

ENTRY(tooManyThreads)
{
    twice<<<1, 2048, 0, stream>>>(x, y, n);
    return cudaGetLastError();
}

ENTRY(overLaunchBounds)
{
    narrow<<<1, 65, 0, stream>>>(y);
    return cudaGetLastError();
}

ENTRY(sharedWithoutAttribute)
{
    throughShared<<<blocksFor(n), threads, 64 * 1024, stream>>>(x, y, n);
    return cudaGetLastError();
}

ENTRY(sharedWithAttribute)
{
    if (cudaFuncSetAttribute(throughShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024) !=
        cudaErrorInvalidValue) {
        return cudaErrorUnknown;
    }
    cudaGetLastError();
    cudaFuncSetAttribute(throughShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, throughShared, threads, 64 * 1024);
    if (blocks != 3) { // 228 KiB / (64 + 1) KiB
        return cudaErrorUnknown;
    }
    throughShared<<<blocksFor(n), threads, 64 * 1024, stream>>>(x, y, n);
    return cudaGetLastError();
}

ENTRY(neverEnds)
{
    endless<<<1, 32, 0, stream>>>(y);
    return cudaGetLastError();
}

ENTRY(hostFunction)
{
    return cudaLaunchHostFunc(stream, [](void*) {}, nullptr);
}

ENTRY(hostReads)
{
    return x[0] == 0.0f ? cudaErrorUnknown : cudaSuccess;
}

ENTRY(extendedLaunch)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = blocksFor(n);
    config.blockDim = threads;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, twice, x, y, n);
}

ENTRY(cluster)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 2;
    config.blockDim = threads;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, twice, x, y, n);
}
