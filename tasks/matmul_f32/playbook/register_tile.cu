// SPDX-License-Identifier: 0BSD
// A block computes a 128 x 128 tile of C, a thread 8 x 8 elements of it in registers: 64 FMAs for 16 values read from
// shared memory. The next tiles of A and B are loaded into registers, 16 bytes a thread, while the present ones are
// used, and stored to the other of two buffers.
#include <cstdint>

namespace {

// espalier: tune DEPTH = 8 16
#define DEPTH 8
// espalier: tune BLOCKS = 1 2
#define BLOCKS 2
constexpr int kTile = 128;
constexpr int kThreads = 256;
constexpr int kQuads = kTile * DEPTH / 4 / kThreads; // of A, and of B, that a thread moves per step

// Four elements of a row-major matrix from (row, col) on; those outside it are 0. `Aligned`: rows are multiples of 4.
template <bool Aligned>
__device__ float4 load(const float* matrix, int row, int col, int rows, int cols)
{
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row < rows) {
        const float* p = matrix + static_cast<int64_t>(row) * cols + col;
        if (Aligned) {
            if (col < cols)
                v = *reinterpret_cast<const float4*>(p);
        } else {
            if (col < cols)
                v.x = p[0];
            if (col + 1 < cols)
                v.y = p[1];
            if (col + 2 < cols)
                v.z = p[2];
            if (col + 3 < cols)
                v.w = p[3];
        }
    }
    return v;
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
    __shared__ __align__(16) float tileA[2][DEPTH][kTile + 4]; // transposed; padded against bank conflicts
    __shared__ __align__(16) float tileB[2][DEPTH][kTile];
    const int t = threadIdx.x;
    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;
    // A warp covers 32 x 64 elements: 4 threads down, 8 across, each with rows r, r + 16 and columns q, q + 32.
    const int warp = t / 32;
    const int lane = t % 32;
    const int r = warp / 2 * 32 + lane / 8 * 4;
    const int q = warp % 2 * 64 + lane % 8 * 4;

    float4 nextA[kQuads];
    float4 nextB[kQuads];
    const auto fetch = [&](int at) {
#pragma unroll
        for (int i = 0; i < kQuads; ++i) {
            const int p = t + i * kThreads;
            nextA[i] = load<Aligned>(a, row0 + p / (DEPTH / 4), at + p % (DEPTH / 4) * 4, m, k);
            nextB[i] = load<Aligned>(b, at + p / (kTile / 4), col0 + p % (kTile / 4) * 4, k, n);
        }
    };
    const auto place = [&](int buffer) {
#pragma unroll
        for (int i = 0; i < kQuads; ++i) {
            const int p = t + i * kThreads;
            const int row = p / (DEPTH / 4);
            const int l = p % (DEPTH / 4) * 4;
            tileA[buffer][l][row] = nextA[i].x;
            tileA[buffer][l + 1][row] = nextA[i].y;
            tileA[buffer][l + 2][row] = nextA[i].z;
            tileA[buffer][l + 3][row] = nextA[i].w;
            *reinterpret_cast<float4*>(&tileB[buffer][p / (kTile / 4)][p % (kTile / 4) * 4]) = nextB[i];
        }
    };

    float sum[8][8] = {};
    fetch(0);
    place(0);
    __syncthreads();
    int buffer = 0;
    for (int at = 0; at < k; at += DEPTH) {
        const bool more = at + DEPTH < k;
        if (more)
            fetch(at + DEPTH);
#pragma unroll
        for (int l = 0; l < DEPTH; ++l) {
            float va[8];
            float vb[8];
            *reinterpret_cast<float4*>(va) = *reinterpret_cast<const float4*>(&tileA[buffer][l][r]);
            *reinterpret_cast<float4*>(va + 4) = *reinterpret_cast<const float4*>(&tileA[buffer][l][r + 16]);
            *reinterpret_cast<float4*>(vb) = *reinterpret_cast<const float4*>(&tileB[buffer][l][q]);
            *reinterpret_cast<float4*>(vb + 4) = *reinterpret_cast<const float4*>(&tileB[buffer][l][q + 32]);
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sum[i][j] = fmaf(va[i], vb[j], sum[i][j]);
        }
        if (more)
            place(buffer ^ 1);
        __syncthreads();
        buffer ^= 1;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = row0 + r + i % 4 + i / 4 * 16;
        store<Aligned>(c, row, col0 + q, m, n, sum[i]);
        store<Aligned>(c, row, col0 + q + 32, m, n, sum[i] + 4);
    }
}

} // namespace

extern "C" cudaError_t matmul_f32(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k,
                                  void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    if (m > INT32_MAX - kTile || n > INT32_MAX - kTile || k > INT32_MAX - kTile)
        return cudaErrorInvalidValue;
    const dim3 grid(static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile));
    if (k % 4 == 0 && n % 4 == 0)
        multiply<true>
            <<<grid, kThreads, 0, stream>>>(a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
    else
        multiply<false>
            <<<grid, kThreads, 0, stream>>>(a, b, c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
    return cudaGetLastError();
}
