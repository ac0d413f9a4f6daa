// SPDX-License-Identifier: 0BSD
// C = A * B in fp64, for output elements [first, first + count) of the row-major C.
//
//     ref[i][j]   = sum_l a[i][l] * b[l][j]
//     scale[i][j] = sum_l |a[i][l] * b[l][j]|
//
// Products of floats are exact in fp64, so the error of ref is that of one fp64 sum. One block computes a 64 x 64 tile
// of C; tiles and elements outside the range are skipped, so a few rows or one tile's rows cost little.
#include <cmath>
#include <cstdint>

namespace {

constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kThreads = 256; // 16 x 16, each 4 x 4 elements

__global__ void __launch_bounds__(kThreads)
    oracleTiles(const float* a, const float* b, int64_t m, int64_t n, int64_t k, double* ref, double* scale,
                int64_t first, int64_t count, int64_t tilesAcross)
{
    __shared__ double tileA[kDepth][kTile + 2];
    __shared__ double tileB[kDepth][kTile + 2];
    const int64_t firstRow = first / n;
    const int64_t lastRow = (first + count - 1) / n;
    // Within a single row only the columns of the range are needed.
    const int64_t firstCol = firstRow == lastRow ? first % n : 0;
    const int64_t row0 = firstRow + blockIdx.x / tilesAcross * kTile;
    const int64_t col0 = firstCol + blockIdx.x % tilesAcross * kTile;
    const int t = threadIdx.x;
    const int tx = t % 16;
    const int ty = t / 16;

    double sum[4][4] = {};
    double magnitude[4][4] = {};
    for (int64_t at = 0; at < k; at += kDepth) {
        for (int i = t; i < kTile * kDepth; i += kThreads) {
            const int64_t row = row0 + i / kDepth;
            const int64_t l = at + i % kDepth;
            tileA[i % kDepth][i / kDepth] = row < m && l < k ? a[row * k + l] : 0.0;
        }
        for (int i = t; i < kTile * kDepth; i += kThreads) {
            const int64_t l = at + i / kTile;
            const int64_t col = col0 + i % kTile;
            tileB[i / kTile][i % kTile] = l < k && col < n ? b[l * n + col] : 0.0;
        }
        __syncthreads();
#pragma unroll 4
        for (int l = 0; l < kDepth; ++l) {
            double va[4];
            double vb[4];
            for (int i = 0; i < 4; ++i) {
                va[i] = tileA[l][ty + 16 * i];
                vb[i] = tileB[l][tx + 16 * i];
            }
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) {
                    sum[i][j] = fma(va[i], vb[j], sum[i][j]);
                    magnitude[i][j] = fma(fabs(va[i]), fabs(vb[j]), magnitude[i][j]);
                }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int64_t row = row0 + ty + 16 * i;
            const int64_t col = col0 + tx + 16 * j;
            const int64_t at = row * n + col - first;
            if (row < m && col < n && at >= 0 && at < count) {
                ref[at] = sum[i][j];
                scale[at] = magnitude[i][j];
            }
        }
}

} // namespace

extern "C" cudaError_t matmul_f32_oracle(const float* a, const float* b, int64_t m, int64_t n, int64_t k, double* ref,
                                         double* scale, int64_t first, int64_t count, cudaStream_t stream)
{
    if (count <= 0)
        return cudaSuccess;
    if (first < 0 || first + count > m * n)
        return cudaErrorInvalidValue;
    const int64_t rows = (first + count - 1) / n - first / n + 1;
    const int64_t cols = rows == 1 ? count : n;
    const int64_t tilesAcross = (cols + kTile - 1) / kTile;
    const int64_t tiles = tilesAcross * ((rows + kTile - 1) / kTile);
    oracleTiles<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(a, b, m, n, k, ref, scale, first, count,
                                                                       tilesAcross);
    return cudaGetLastError();
}
