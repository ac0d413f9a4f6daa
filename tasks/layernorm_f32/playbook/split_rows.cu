// SPDX-License-Identifier: 0BSD
// Each row is split over many blocks. One kernel leaves mean and squared deviations of every chunk in the workspace, a
// second merges them per row, a third writes the result.
#include <cmath>
#include <cstdint>

namespace {

// espalier: tune BLOCK = 128 256 512
#define BLOCK 256
// espalier: tune HELD = 2 4 8
#define HELD 4
constexpr int kChunk = BLOCK * HELD; // vectors of one row that one block of the first kernel reads

// Rows whose length is a multiple of 4 move as float4, all others as single floats: a row, weight and bias then do not
// share an alignment.
__device__ float sum(float v)
{
    return v;
}
__device__ float sum(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}
__device__ float squares(float v, float mean)
{
    return (v - mean) * (v - mean);
}
__device__ float squares(float4 v, float mean)
{
    return (squares(v.x, mean) + squares(v.y, mean)) + (squares(v.z, mean) + squares(v.w, mean));
}
__device__ float normalise(float v, float2 s, float w, float b)
{
    return (v - s.x) * s.y * w + b;
}
__device__ float4 normalise(float4 v, float2 s, float4 w, float4 b)
{
    return make_float4(normalise(v.x, s, w.x, b.x), normalise(v.y, s, w.y, b.y), normalise(v.z, s, w.z, b.z),
                       normalise(v.w, s, w.w, b.w));
}

// The sum over the block, for every thread. `partial` holds one float per warp.
__device__ float blockSum(float v, float* partial)
{
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    v = lane < BLOCK / 32 ? partial[lane] : 0.0f;
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// Mean of one chunk of a row and the sum of squared deviations from it, from a single read: the chunk stays in
// registers.
template <class V>
__global__ void __launch_bounds__(BLOCK)
    chunkStatistics(const V* __restrict__ x, float2* chunks, int64_t vectors, int parts)
{
    __shared__ float partial[BLOCK / 32];
    const int64_t row = blockIdx.x / parts;
    const int part = blockIdx.x % parts;
    const int64_t at = static_cast<int64_t>(part) * kChunk + threadIdx.x;
    const V* in = x + row * vectors;
    constexpr int kPerVector = sizeof(V) / sizeof(float);

    V held[HELD];
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        held[i] = at + i * BLOCK < vectors ? in[at + i * BLOCK] : V{};
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        total += sum(held[i]);
    const int64_t left = vectors - static_cast<int64_t>(part) * kChunk;
    const float mean = blockSum(total, partial) / (kPerVector * (left < kChunk ? left : kChunk));
    float deviation = 0.0f;
#pragma unroll
    for (int i = 0; i < HELD; ++i)
        if (at + i * BLOCK < vectors)
            deviation += squares(held[i], mean);
    deviation = blockSum(deviation, partial);
    if (threadIdx.x == 0)
        chunks[row * parts + part] = make_float2(mean, deviation);
}

// Mean and 1 / standard deviation of each row from its chunks. Double precision: it is little work, and chunk means can
// be close to each other.
__global__ void rowStatistics(const float2* chunks, float2* statistics, int64_t cols, int chunkCols, int parts,
                              float eps)
{
    __shared__ double partial[256];
    const float2* own = chunks + static_cast<int64_t>(blockIdx.x) * parts;
    const int t = threadIdx.x;
    double mean = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
        double v = 0.0;
        for (int p = t; p < parts; p += 256) {
            const int64_t left = cols - static_cast<int64_t>(p) * chunkCols;
            const double n = left < chunkCols ? left : chunkCols;
            const double d = own[p].x - mean;
            v += pass == 0 ? n * d : own[p].y + n * d * d;
        }
        partial[t] = v;
        __syncthreads();
        for (int half = 128; half > 0; half /= 2) {
            if (t < half)
                partial[t] += partial[t + half];
            __syncthreads();
        }
        v = partial[0] / cols;
        __syncthreads();
        if (pass == 0)
            mean = v;
        else if (t == 0)
            statistics[blockIdx.x] = make_float2(static_cast<float>(mean), static_cast<float>(1.0 / sqrt(v + eps)));
    }
}

template <class V>
__global__ void __launch_bounds__(BLOCK)
    applyRows(const V* __restrict__ x, const V* __restrict__ weight, const V* __restrict__ bias, V* __restrict__ y,
              const float2* __restrict__ statistics, int64_t vectors, int parts)
{
    const int64_t row = blockIdx.x / parts;
    const int64_t at = static_cast<int64_t>(blockIdx.x % parts) * kChunk + threadIdx.x;
    const float2 s = statistics[row];
#pragma unroll
    for (int i = 0; i < HELD; ++i) {
        const int64_t c = at + i * BLOCK;
        if (c < vectors)
            y[row * vectors + c] = normalise(x[row * vectors + c], s, weight[c], bias[c]);
    }
}

int partsOf(int64_t cols)
{
    const int64_t vectors = cols % 4 == 0 ? cols / 4 : cols;
    return static_cast<int>((vectors + kChunk - 1) / kChunk);
}

template <class V>
cudaError_t launch(const float* x, const float* weight, const float* bias, float* y, int64_t rows, int64_t cols,
                   float eps, float2* statistics, cudaStream_t stream)
{
    const int64_t vectors = cols * sizeof(float) / sizeof(V);
    const int parts = partsOf(cols);
    const int chunkCols = kChunk * (sizeof(V) / sizeof(float));
    const unsigned blocks = static_cast<unsigned>(rows * parts);
    float2* chunks = statistics + rows;
    const V* xs = reinterpret_cast<const V*>(x);
    const V* ws = reinterpret_cast<const V*>(weight);
    const V* bs = reinterpret_cast<const V*>(bias);
    V* ys = reinterpret_cast<V*>(y);
    chunkStatistics<<<blocks, BLOCK, 0, stream>>>(xs, chunks, vectors, parts);
    rowStatistics<<<static_cast<unsigned>(rows), 256, 0, stream>>>(chunks, statistics, cols, chunkCols, parts, eps);
    applyRows<<<blocks, BLOCK, 0, stream>>>(xs, ws, bs, ys, statistics, vectors, parts);
    return cudaGetLastError();
}

} // namespace

// Statistics of every row, then of every chunk.
extern "C" size_t layernorm_f32_workspace(int64_t rows, int64_t cols, float eps)
{
    return static_cast<size_t>(rows) * (1 + partsOf(cols)) * sizeof(float2);
}

extern "C" cudaError_t layernorm_f32(const float* x, const float* weight, const float* bias, float* y, int64_t rows,
                                     int64_t cols, float eps, void* workspace, size_t workspace_bytes,
                                     cudaStream_t stream)
{
    float2* statistics = static_cast<float2*>(workspace);
    return cols % 4 == 0 ? launch<float4>(x, weight, bias, y, rows, cols, eps, statistics, stream)
                         : launch<float>(x, weight, bias, y, rows, cols, eps, statistics, stream);
}
