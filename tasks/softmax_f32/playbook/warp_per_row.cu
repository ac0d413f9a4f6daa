// SPDX-License-Identifier: 0BSD
// One warp per row: maximum and sum are reduced by shuffles, without shared memory or barriers.
#include <cmath>
#include <cstdint>

namespace {

// espalier: tune WARPS = 1 2 4 8
#define WARPS 4

__device__ float warpMax(float v)
{
    for (int step = 16; step > 0; step /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
    return v;
}

__device__ float warpSum(float v)
{
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

__global__ void __launch_bounds__(WARPS * 32)
    softmaxRows(const float* __restrict__ x, float* __restrict__ y, int64_t rows, int64_t cols)
{
    const int lane = threadIdx.x % 32;
    const int64_t row = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32;
    if (row >= rows)
        return;
    const float* in = x + row * cols;
    float* out = y + row * cols;

    float largest = -INFINITY;
#pragma unroll 8
    for (int64_t c = lane; c < cols; c += 32)
        largest = fmaxf(largest, in[c]);
    largest = warpMax(largest);

    float sum = 0.0f;
#pragma unroll 8
    for (int64_t c = lane; c < cols; c += 32)
        sum += expf(in[c] - largest);
    const float inverse = 1.0f / warpSum(sum);

#pragma unroll 8
    for (int64_t c = lane; c < cols; c += 32)
        out[c] = expf(in[c] - largest) * inverse;
}

} // namespace

extern "C" cudaError_t softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    softmaxRows<<<static_cast<unsigned>((rows + WARPS - 1) / WARPS), WARPS * 32, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError();
}
