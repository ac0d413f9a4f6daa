// SPDX-License-Identifier: 0BSD
// Each operand is split into two TF32 numbers, x = high + low with 11 bits each, and the product is taken as
// high * high + high * low + low * high on the tensor cores; what is left out is below fp32's own rounding. The tensor
// cores lose accuracy when they add long sums, so the partial sums move into fp32 registers every PROMOTE steps of a
// long K.
#include <cstdint>

namespace {

// espalier: tune DEPTH = 16 32
#define DEPTH 32
// espalier: tune STAGES = 2 3 4
#define STAGES 3
// espalier: tune PROMOTE = 64 128
#define PROMOTE 128
constexpr int kTile = 128;
constexpr int kThreads = 256;
constexpr int kQuads = kTile * DEPTH / 4 / kThreads; // of A, and of B, that a thread copies per step

// Steps between moves into fp32. The error of the tensor cores' own sums is about u / 8 for every element of K between
// two moves (measured), whatever K is; short sums are expected to be more accurate than that of the longest interval.
__device__ int promoteSteps(int k)
{
    return (k >= 4096 ? PROMOTE : k >= 1024 ? 64 : 32) / DEPTH;
}

// Paddings that put the values one instruction's lanes read into 32 different banks.
constexpr int kStrideA = DEPTH + 4;
constexpr int kStrideB = kTile + 8;
constexpr int kFloatsA = kTile * kStrideA;
constexpr int kFloats = kFloatsA + DEPTH * kStrideB; // of one stage
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

// The nearest number with 11 significant bits.
__device__ unsigned roundToTf32(float v)
{
    return (__float_as_uint(v) + 0x1000u) & 0xffffe000u;
}

__device__ void splitTf32(float v, unsigned& high, unsigned& low)
{
    high = roundToTf32(v);
    low = roundToTf32(v - __uint_as_float(high));
}

__device__ void multiplyAdd(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <bool Aligned>
__global__ void __launch_bounds__(kThreads, 1)
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    extern __shared__ __align__(16) float shared[];
    const int t = threadIdx.x;
    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;
    // Eight warps, 2 down and 4 across, each 64 x 32 elements: 4 x 4 of the instruction's 16 x 8.
    const int warp = t / 32;
    const int group = t % 32 / 4;
    const int inGroup = t % 4;
    const int r = warp / 4 * 64 + group;
    const int q = warp % 4 * 32 + group;
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
                copyAsync<Aligned>(toB + rowB * kStrideB + colB, b, step * DEPTH + rowB, col0 + colB, k, n);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory"); // empty at the end, so that counting stays simple
    };

    float sum[4][4][4] = {};
    float recent[4][4][4] = {};
    const int interval = promoteSteps(k);
    int held = 0; // steps in `recent`
    const auto promote = [&] {
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    sum[i][j][e] += recent[i][j][e];
                    recent[i][j][e] = 0.0f;
                }
    };
    for (int s = 0; s < STAGES - 1; ++s)
        fetch(s);
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); // this step's tiles are here, and the last step's may be overwritten
        fetch(step + STAGES - 1);
        const float* tileA = shared + step % STAGES * kFloats;
        const float* tileB = tileA + kFloatsA;
#pragma unroll
        for (int l = 0; l < DEPTH; l += 8) {
            unsigned highB[4][2], lowB[4][2];
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                    splitTf32(tileB[(l + inGroup + 4 * e) * kStrideB + q + 8 * j], highB[j][e], lowB[j][e]);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                unsigned highA[4], lowA[4];
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    splitTf32(tileA[(r + 16 * i + 8 * (e % 2)) * kStrideA + l + inGroup + 4 * (e / 2)], highA[e],
                              lowA[e]);
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    multiplyAdd(recent[i][j], lowA, highB[j]);
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    multiplyAdd(recent[i][j], highA, lowB[j]);
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    multiplyAdd(recent[i][j], highA, highB[j]);
            }
        }
        if (++held == interval) {
            promote();
            held = 0;
        }
    }
    promote();
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int row = row0 + r + 16 * i + 8 * (e / 2);
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int col = col0 + warp % 4 * 32 + 8 * j + 2 * inGroup + e % 2;
                if (row < m && col < n)
                    c[static_cast<int64_t>(row) * n + col] = sum[i][j][e];
            }
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
