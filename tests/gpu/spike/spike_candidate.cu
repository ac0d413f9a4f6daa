// SPDX-License-Identifier: Apache-2.0
// The library under test of the spike: a streaming kernel, and one that writes where it is told to.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void streamKernel(const float4* __restrict__ x, float4* __restrict__ y, std::int64_t n)
{
    const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        const float4 v = x[i];
        y[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
    }
}

__global__ void pokeKernel(float* p)
{
    *p = 42;
}

extern "C" int spike_stream(const float* x, float* y, std::int64_t n, cudaStream_t stream)
{
    const std::int64_t vectors = n / 4;
    streamKernel<<<unsigned((vectors + 511) / 512), 512, 0, stream>>>(reinterpret_cast<const float4*>(x),
                                                                      reinterpret_cast<float4*>(y), vectors);
    return cudaGetLastError();
}

extern "C" int spike_poke(float* p, cudaStream_t stream)
{
    pokeKernel<<<1, 1, 0, stream>>>(p);
    return cudaGetLastError();
}
