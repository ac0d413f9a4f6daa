// SPDX-License-Identifier: 0BSD
// 16-byte loads and stores, and block reductions in two steps: shuffles inside each warp, then one warp over the warps'
// results. One barrier a reduction instead of one for every halving. A row whose length is no multiple of 4 starts off
// a 16-byte boundary: up to three elements at its head and tail are then moved one by one.
#include <cmath>
#include <cstdint>

namespace {

// espalier: tune BLOCK = 128 256 512 1024
#define BLOCK 256

// How one row divides into single elements up to the first 16-byte boundary, whole quads, and the rest.
struct Split {
    int64_t head, quads, tail;
};

__device__ Split split(const float* row, int64_t cols)
{
    const int64_t toBoundary = (4 - (reinterpret_cast<uintptr_t>(row) / 4) % 4) % 4;
    const int64_t head = toBoundary < cols ? toBoundary : cols;
    const int64_t quads = (cols - head) / 4;
    return {head, quads, cols - head - 4 * quads};
}

template <class Combine>
__device__ float warpReduce(float v, Combine combine)
{
    for (int step = 16; step > 0; step /= 2)
        v = combine(v, __shfl_xor_sync(0xffffffffu, v, step));
    return v;
}

template <class Combine>
__device__ float blockReduce(float v, float* partial, float neutral, Combine combine)
{
    v = warpReduce(v, combine);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    // Every warp reduces the warps' results itself: cheaper than a broadcast and a second barrier.
    const int lane = threadIdx.x % 32;
    return warpReduce(lane < BLOCK / 32 ? partial[lane] : neutral, combine);
}

__global__ void __launch_bounds__(BLOCK) softmaxRows(const float* __restrict__ x, float* __restrict__ y, int64_t cols)
{
    __shared__ float partialMax[BLOCK / 32];
    __shared__ float partialSum[BLOCK / 32];
    const int t = threadIdx.x;
    const float* in = x + blockIdx.x * cols;
    float* out = y + blockIdx.x * cols;
    const Split s = split(in, cols);
    const float4* in4 = reinterpret_cast<const float4*>(in + s.head);
    float4* out4 = reinterpret_cast<float4*>(out + s.head);
    const int64_t tailAt = s.head + 4 * s.quads;

    float largest = -INFINITY;
    if (t < s.head)
        largest = in[t];
    if (t < s.tail)
        largest = fmaxf(largest, in[tailAt + t]);
#pragma unroll 4
    for (int64_t q = t; q < s.quads; q += BLOCK) {
        const float4 v = in4[q];
        largest = fmaxf(largest, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    largest = blockReduce(largest, partialMax, -INFINITY, [](float a, float b) { return fmaxf(a, b); });

    float sum = 0.0f;
    if (t < s.head)
        sum += expf(in[t] - largest);
    if (t < s.tail)
        sum += expf(in[tailAt + t] - largest);
#pragma unroll 4
    for (int64_t q = t; q < s.quads; q += BLOCK) {
        const float4 v = in4[q];
        sum += (expf(v.x - largest) + expf(v.y - largest)) + (expf(v.z - largest) + expf(v.w - largest));
    }
    sum = blockReduce(sum, partialSum, 0.0f, [](float a, float b) { return a + b; });
    const float inverse = 1.0f / sum;

    if (t < s.head)
        out[t] = expf(in[t] - largest) * inverse;
    if (t < s.tail)
        out[tailAt + t] = expf(in[tailAt + t] - largest) * inverse;
#pragma unroll 4
    for (int64_t q = t; q < s.quads; q += BLOCK) {
        const float4 v = in4[q];
        out4[q] = make_float4(expf(v.x - largest) * inverse, expf(v.y - largest) * inverse,
                              expf(v.z - largest) * inverse, expf(v.w - largest) * inverse);
    }
}

} // namespace

extern "C" cudaError_t softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    softmaxRows<<<static_cast<unsigned>(rows), BLOCK, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
