// SPDX-License-Identifier: 0BSD
// The 128 x 128 tile with 8 x 8 elements a thread, fed by a pipeline of STAGES buffers: asynchronous copies bring tiles
// of A and B to shared memory without passing through registers, several steps ahead. A stays row-major, so a thread
// reads four steps of a row at once; rows are padded to 4 more floats than DEPTH, which puts neighbouring rows in
// different banks.
#include <cstdint>

namespace {

// espalier: tune DEPTH = 8 16 32
#define DEPTH 32
// espalier: tune STAGES = 2 3 4
#define STAGES 3
// espalier: tune BLOCKS = 1 2
#define BLOCKS 1
constexpr int kTile = 128;
constexpr int kThreads = 256;
constexpr int kQuads = kTile * DEPTH / 4 / kThreads; // of A, and of B, that a thread copies per step
constexpr int kStrideA = DEPTH + 4;
constexpr int kFloatsA = kTile * kStrideA;
constexpr int kFloats = kFloatsA + DEPTH * kTile; // of one stage
constexpr int kSharedBytes = STAGES * kFloats * 4;

// Copies four elements of a row-major matrix from (row, col) on to shared memory, asynchronously; those outside the
// matrix become 0. `Aligned`: rows are multiples of 4, so a quad lies inside or outside whole.
template <bool Aligned>
__device__ void copyAsync(float* shared, const float* matrix, int row, int col, int rows, int cols)
{
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (Aligned) {
        const bool inside = row < rows && col < cols;
        const float* from = inside ? matrix + static_cast<int64_t>(row) * cols + col : matrix;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0)
                     : "memory");
    } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const bool inside = row < rows && col + i < cols;
            const float* from = inside ? matrix + static_cast<int64_t>(row) * cols + col + i : matrix;
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to + 4 * i), "l"(from),
                         "r"(inside ? 4 : 0)
                         : "memory");
        }
    }
}

template <bool Aligned>
__device__ void store(float* c, int row, int col, int m, int n, const float* v)
{
    if (row >= m)
        return;
    float* p = c + static_cast<int64_t>(row) * n + col;
    if (Aligned) {
        if (col < n)
            *reinterpret_cast<float4*>(p) = make_float4(v[0], v[1], v[2], v[3]);
    } else {
        for (int i = 0; i < 4; ++i)
            if (col + i < n)
                p[i] = v[i];
    }
}

template <bool Aligned>
__global__ void __launch_bounds__(kThreads, BLOCKS)
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    extern __shared__ __align__(16) float shared[];
    const int t = threadIdx.x;
    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;
    // A warp covers 32 x 64 elements: 4 threads down, 8 across. A thread has rows r, r + 4, ... r + 28, columns q and q
    // + 32.
    const int warp = t / 32;
    const int lane = t % 32;
    const int r = warp / 2 * 32 + lane / 8;
    const int q = warp % 2 * 64 + lane % 8 * 4;
    const int steps = (k + DEPTH - 1) / DEPTH;

    const auto fetch = [&](int step) {
        if (step < steps) {
            float* toA = shared + step % STAGES * kFloats;
            float* toB = toA + kFloatsA;
#pragma unroll
            for (int i = 0; i < kQuads; ++i) {
                const int p = t + i * kThreads;
                const int rowA = p / (DEPTH / 4);
                const int colA = p % (DEPTH / 4) * 4;
                copyAsync<Aligned>(toA + rowA * kStrideA + colA, a, row0 + rowA, step * DEPTH + colA, m, k);
                const int rowB = p / (kTile / 4);
                const int colB = p % (kTile / 4) * 4;
                copyAsync<Aligned>(toB + rowB * kTile + colB, b, step * DEPTH + rowB, col0 + colB, k, n);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory"); // empty at the end, so that counting stays simple
    };

    float sum[8][8] = {};
    for (int s = 0; s < STAGES - 1; ++s)
        fetch(s);
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); // this step's tiles are here, and the last step's may be overwritten
        fetch(step + STAGES - 1);
        const float* tileA = shared + step % STAGES * kFloats;
        const float* tileB = tileA + kFloatsA;
#pragma unroll
        for (int l = 0; l < DEPTH; l += 4) {
            float4 va[8];
#pragma unroll
            for (int i = 0; i < 8; ++i)
                va[i] = *reinterpret_cast<const float4*>(tileA + (r + 4 * i) * kStrideA + l);
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                float vb[8];
                *reinterpret_cast<float4*>(vb) = *reinterpret_cast<const float4*>(tileB + (l + s) * kTile + q);
                *reinterpret_cast<float4*>(vb + 4) = *reinterpret_cast<const float4*>(tileB + (l + s) * kTile + q + 32);
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    const float x = s == 0 ? va[i].x : s == 1 ? va[i].y : s == 2 ? va[i].z : va[i].w;
#pragma unroll
                    for (int j = 0; j < 8; ++j)
                        sum[i][j] = fmaf(x, vb[j], sum[i][j]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        store<Aligned>(c, row0 + r + 4 * i, col0 + q, m, n, sum[i]);
        store<Aligned>(c, row0 + r + 4 * i, col0 + q + 32, m, n, sum[i] + 4);
    }
}

template <bool Aligned>
cudaError_t launch(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, cudaStream_t stream)
{
    if (m > INT32_MAX - kTile || n > INT32_MAX - kTile || k > INT32_MAX - kTile)
        return cudaErrorInvalidValue;
    const cudaError_t error =
        cudaFuncSetAttribute(multiply<Aligned>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (error != cudaSuccess)
        return error;
    const dim3 grid(static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile));
    multiply<Aligned><<<grid, kThreads, kSharedBytes, stream>>>(a, b, c, static_cast<int>(m), static_cast<int>(n),
                                                                static_cast<int>(k));
    return cudaGetLastError();
}

} // namespace

extern "C" cudaError_t matmul_f32(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
                                  void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    return k % 4 == 0 && n % 4 == 0 ? launch<true>(a, b, c, m, n, k, stream) : launch<false>(a, b, c, m, n, k, stream);
}
