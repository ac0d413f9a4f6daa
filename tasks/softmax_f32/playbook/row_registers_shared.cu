// SPDX-License-Identifier: 0BSD
// A row of up to 65536 elements is held on chip whole: HELD quads a thread in registers, the others in shared memory,
// fetched by asynchronous copies that need no register on the way. Memory is read once. Each thread copies and reads
// its own quads, so the staging needs no barrier. Longer rows: what fits in neither is read twice.
#include <cfloat>
#include <cmath>
#include <cstdint>

namespace {

// espalier: tune BLOCK = 512 1024
#define BLOCK 512
// espalier: tune HELD = 4 6 8
#define HELD 8
constexpr int kRowQuads = 65536 / 4;
constexpr int kSharedQuads = 224 * 1024 / 16;
constexpr int kWanted = kRowQuads / BLOCK - HELD;
constexpr int kMost = kSharedQuads / BLOCK;
constexpr int kStaged = kWanted < 1 ? 1 : kWanted < kMost ? kWanted : kMost;
constexpr int kSharedBytes = kStaged * BLOCK * 16;

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

__device__ float max4(float4 v)
{
    return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
}

__device__ float4 exp4(float4 v, float m)
{
    return make_float4(expf(v.x - m), expf(v.y - m), expf(v.z - m), expf(v.w - m));
}

__device__ float4 times(float4 v, float f)
{
    return make_float4(v.x * f, v.y * f, v.z * f, v.w * f);
}

__device__ float sum4(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

__device__ void copyAsync(float4* shared, const float4* global)
{
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
        "l"(global)
        : "memory");
}

__global__ void __launch_bounds__(BLOCK) softmaxRows(const float* __restrict__ x, float* __restrict__ y, int cols)
{
    extern __shared__ float4 staged[];
    __shared__ Part partial[BLOCK / 32];
    const int t = threadIdx.x;
    const float* in = x + static_cast<int64_t>(blockIdx.x) * cols;
    float* out = y + static_cast<int64_t>(blockIdx.x) * cols;
    // A row may start off a 16-byte boundary: up to three elements at its head and tail are then held one a thread.
    const int toBoundary = (4 - (reinterpret_cast<uintptr_t>(in) / 4) % 4) % 4;
    const int head = toBoundary < cols ? toBoundary : cols;
    const int quads = (cols - head) / 4;
    const int tail = cols - head - 4 * quads;
    const int edgeAt = t < head ? t : t >= 4 && t - 4 < tail ? head + 4 * quads + t - 4 : -1;
    const float4* in4 = reinterpret_cast<const float4*>(in + head);
    float4* out4 = reinterpret_cast<float4*>(out + head);
    const int stagedEnd = min(quads, kStaged * BLOCK);
    const int heldAt = t + kStaged * BLOCK;
    const int restAt = heldAt + HELD * BLOCK;

#pragma unroll
    for (int i = 0; i < kStaged; ++i)
        if (t + i * BLOCK < stagedEnd)
            copyAsync(staged + t + i * BLOCK, in4 + t + i * BLOCK);
    asm volatile("cp.async.commit_group;" ::: "memory");

    const float4 nothing = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    float4 held[HELD];
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        held[i] = heldAt + i * BLOCK < quads ? __ldcs(in4 + heldAt + i * BLOCK) : nothing;
    float edge = edgeAt >= 0 ? in[edgeAt] : -INFINITY;

    Part rest{-FLT_MAX, 0.0f};
    for (int q = restAt; q < quads; q += BLOCK) {
        const float4 v = in4[q];
        const float m = fmaxf(rest.max, max4(v));
        rest = {m, rest.sum * expf(rest.max - m) + sum4(exp4(v, m))};
    }
    float own = fmaxf(rest.max, edge);
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        own = fmaxf(own, max4(held[i]));
    asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll 4
    for (int q = t; q < stagedEnd; q += BLOCK)
        own = fmaxf(own, max4(staged[q]));

    edge = expf(edge - own);
    float sum = rest.sum * expf(rest.max - own) + edge;
#pragma unroll
    for (int i = 0; i < HELD; ++i) {
        held[i] = exp4(held[i], own);
        sum += sum4(held[i]);
    }
#pragma unroll 4
    for (int q = t; q < stagedEnd; q += BLOCK) {
        const float4 e = exp4(staged[q], own);
        staged[q] = e;
        sum += sum4(e);
    }
    const Part row = blockMerge({own, sum}, partial);
    const float inverse = 1.0f / row.sum;
    const float factor = expf(own - row.max) * inverse;

    for (int q = restAt; q < quads; q += BLOCK)
        __stcs(out4 + q, times(exp4(__ldcs(in4 + q), row.max), inverse));
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        if (heldAt + i * BLOCK < quads)
            __stcs(out4 + heldAt + i * BLOCK, times(held[i], factor));
#pragma unroll 4
    for (int q = t; q < stagedEnd; q += BLOCK)
        __stcs(out4 + q, times(staged[q], factor));
    if (edgeAt >= 0)
        out[edgeAt] = edge * factor;
}

} // namespace

extern "C" cudaError_t softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    if (cols > INT32_MAX)
        return cudaErrorInvalidValue;
    const cudaError_t error =
        cudaFuncSetAttribute(softmaxRows, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (error != cudaSuccess)
        return error;
    softmaxRows<<<static_cast<unsigned>(rows), BLOCK, kSharedBytes, stream>>>(x, y, static_cast<int>(cols));
    return cudaGetLastError();
}
