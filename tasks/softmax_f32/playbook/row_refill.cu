// SPDX-License-Identifier: 0BSD
// As many blocks as the device holds stay for the whole call and go through the rows. A row of up to 65536 elements is
// held on chip whole, HELD quads a thread in registers, the others in shared memory; as soon as a thread has written a
// quad of the result it starts to load the next row's quad into the same place, so reads and writes mix instead of
// taking turns.
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

// How a row divides into single elements up to the first 16-byte boundary, whole quads, and the rest. The single
// elements, at most six, are held one a thread.
struct Split {
    int head, quads, edgeAt;
};

__device__ Split split(const float* row, int cols)
{
    const int t = threadIdx.x;
    const int toBoundary = (4 - (reinterpret_cast<uintptr_t>(row) / 4) % 4) % 4;
    const int head = toBoundary < cols ? toBoundary : cols;
    const int quads = (cols - head) / 4;
    const int tail = cols - head - 4 * quads;
    return {head, quads, t < head ? t : t >= 4 && t - 4 < tail ? head + 4 * quads + t - 4 : -1};
}

__global__ void __launch_bounds__(BLOCK, 1)
    softmaxRows(const float* __restrict__ x, float* __restrict__ y, int64_t rows, int cols)
{
    extern __shared__ float4 staged[];
    __shared__ Part partial[2][BLOCK / 32];
    const int t = threadIdx.x;
    const int heldAt = t + kStaged * BLOCK;
    const int restAt = heldAt + HELD * BLOCK;
    const float4 nothing = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);

    const float* in = x + blockIdx.x * static_cast<int64_t>(cols);
    Split at = split(in, cols);
    const float4* in4 = reinterpret_cast<const float4*>(in + at.head);
#pragma unroll
    for (int i = 0; i < kStaged; ++i)
        if (t + i * BLOCK < at.quads)
            copyAsync(staged + t + i * BLOCK, in4 + t + i * BLOCK);
    float4 held[HELD];
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        held[i] = heldAt + i * BLOCK < at.quads ? __ldcs(in4 + heldAt + i * BLOCK) : nothing;
    float edge = at.edgeAt >= 0 ? in[at.edgeAt] : -INFINITY;

    int turn = 0;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        Part rest{-FLT_MAX, 0.0f};
        for (int q = restAt; q < at.quads; q += BLOCK) {
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
        for (int i = 0; i < kStaged; ++i)
            if (t + i * BLOCK < at.quads)
                own = fmaxf(own, max4(staged[t + i * BLOCK]));

        edge = expf(edge - own);
        float sum = rest.sum * expf(rest.max - own) + edge;
#pragma unroll
        for (int i = 0; i < HELD; ++i) {
            held[i] = exp4(held[i], own);
            sum += sum4(held[i]);
        }
#pragma unroll 4
        for (int i = 0; i < kStaged; ++i)
            if (t + i * BLOCK < at.quads) {
                const float4 e = exp4(staged[t + i * BLOCK], own);
                staged[t + i * BLOCK] = e;
                sum += sum4(e);
            }
        // Two places in turn: a slow warp may still read the last row's parts when a fast one stores this row's.
        const Part whole = blockMerge({own, sum}, partial[turn]);
        turn ^= 1;
        const float inverse = 1.0f / whole.sum;
        const float factor = expf(own - whole.max) * inverse;

        float* out = y + row * cols;
        float4* out4 = reinterpret_cast<float4*>(out + at.head);
        for (int q = restAt; q < at.quads; q += BLOCK)
            __stcs(out4 + q, times(exp4(__ldcs(in4 + q), whole.max), inverse));
        if (at.edgeAt >= 0)
            out[at.edgeAt] = edge * factor;

        const Split was = at;
        const bool more = row + gridDim.x < rows;
        in += gridDim.x * static_cast<int64_t>(cols);
        at = more ? split(in, cols) : Split{0, 0, -1};
        in4 = reinterpret_cast<const float4*>(in + at.head);
        edge = at.edgeAt >= 0 ? in[at.edgeAt] : -INFINITY;
#pragma unroll
        for (int i = 0; i < HELD; ++i) {
            const int q = heldAt + i * BLOCK;
            if (q < was.quads)
                __stcs(out4 + q, times(held[i], factor));
            held[i] = q < at.quads ? __ldcs(in4 + q) : nothing;
        }
#pragma unroll 4
        for (int i = 0; i < kStaged; ++i) {
            const int q = t + i * BLOCK;
            if (q < was.quads)
                __stcs(out4 + q, times(staged[q], factor));
            if (q < at.quads)
                copyAsync(staged + q, in4 + q);
        }
    }
}

} // namespace

extern "C" cudaError_t softmax_f32(const float* x, float* y, int64_t rows, int64_t cols, void* workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
    if (cols > INT32_MAX)
        return cudaErrorInvalidValue;
    int device = 0;
    int multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(softmaxRows, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (error != cudaSuccess)
        return error;
    const unsigned blocks = static_cast<unsigned>(rows < multiprocessors ? rows : multiprocessors);
    softmaxRows<<<blocks, BLOCK, kSharedBytes, stream>>>(x, y, rows, static_cast<int>(cols));
    return cudaGetLastError();
}
