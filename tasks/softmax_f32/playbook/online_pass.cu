// SPDX-License-Identifier: 0BSD
// Maximum and sum in one pass: each thread keeps the largest value so far and the sum of exponentials relative to it,
// and rescales the sum when the maximum grows. The row is read twice instead of three times. UNROLL quads are loaded
// before the first is used.
#include <cfloat>
#include <cmath>
#include <cstdint>

namespace {

// espalier: tune BLOCK = 128 256 512 1024
#define BLOCK 512
// espalier: tune UNROLL = 1 2 4 8
#define UNROLL 4
constexpr int kUnroll = UNROLL; // pragmas take constants, not macros

// What a set of elements contributes: its maximum, and the sum of exp(element - maximum).
struct Part {
    float max, sum;
};

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

__device__ Part warpMerge(Part p)
{
    const float m = warpMax(p.max);
    return {m, warpSum(p.sum * expf(p.max - m))};
}

__device__ Part blockMerge(Part p, Part* partial)
{
    p = warpMerge(p);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = p;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    return warpMerge(lane < BLOCK / 32 ? partial[lane] : Part{-FLT_MAX, 0.0f});
}

__device__ void add(Part& p, float v)
{
    const float m = fmaxf(p.max, v);
    p.sum = p.sum * expf(p.max - m) + expf(v - m);
    p.max = m;
}

__device__ float max4(float4 v)
{
    return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
}

__device__ float4 exp4(float4 v, float m)
{
    return make_float4(expf(v.x - m), expf(v.y - m), expf(v.z - m), expf(v.w - m));
}

__device__ float sum4(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

__global__ void __launch_bounds__(BLOCK) softmaxRows(const float* __restrict__ x, float* __restrict__ y, int64_t cols)
{
    __shared__ Part partial[BLOCK / 32];
    const int t = threadIdx.x;
    const float* in = x + blockIdx.x * cols;
    float* out = y + blockIdx.x * cols;
    // A row may start off a 16-byte boundary: up to three elements at its head and tail are moved one by one.
    const int64_t toBoundary = (4 - (reinterpret_cast<uintptr_t>(in) / 4) % 4) % 4;
    const int64_t head = toBoundary < cols ? toBoundary : cols;
    const int64_t quads = (cols - head) / 4;
    const int64_t tailAt = head + 4 * quads;
    const int64_t tail = cols - tailAt;
    const float4* in4 = reinterpret_cast<const float4*>(in + head);
    float4* out4 = reinterpret_cast<float4*>(out + head);

    Part p{-FLT_MAX, 0.0f};
    if (t < head)
        add(p, in[t]);
    if (t < tail)
        add(p, in[tailAt + t]);
    int64_t q = t;
    for (; q + (UNROLL - 1) * BLOCK < quads; q += UNROLL * BLOCK) {
        float4 v[UNROLL];
        float m = p.max;
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
            v[i] = in4[q + i * BLOCK];
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
            m = fmaxf(m, max4(v[i]));
        float sum = p.sum * expf(p.max - m);
#pragma unroll
        for (int i = 0; i < UNROLL; ++i)
            sum += sum4(exp4(v[i], m));
        p = {m, sum};
    }
    for (; q < quads; q += BLOCK) {
        const float4 v = in4[q];
        const float m = fmaxf(p.max, max4(v));
        p = {m, p.sum * expf(p.max - m) + sum4(exp4(v, m))};
    }
    p = blockMerge(p, partial);
    const float inverse = 1.0f / p.sum;

    if (t < head)
        out[t] = expf(in[t] - p.max) * inverse;
    if (t < tail)
        out[tailAt + t] = expf(in[tailAt + t] - p.max) * inverse;
#pragma unroll kUnroll
    for (q = t; q < quads; q += BLOCK) {
        const float4 e = exp4(in4[q], p.max);
        out4[q] = make_float4(e.x * inverse, e.y * inverse, e.z * inverse, e.w * inverse);
    }
}

} // namespace

extern "C" cudaError_t softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    softmaxRows<<<static_cast<unsigned>(rows), BLOCK, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
