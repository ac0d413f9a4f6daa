// SPDX-License-Identifier: 0BSD
// Convolution with 11 x 11 filters, stride 4, padding 2, as an implicit matrix product with tiles in registers. A block
// computes ROWS output rows of 56 columns for 96 filters, a thread 12 filters by 7 columns. One channel of the image's
// patch and of the filters stands in shared memory; the patch is stored by column modulo 4, so that neighbouring
// outputs (four columns apart) read neighbouring words.
#include <cstdint>

// espalier: tune ROWS = 1 2 4
#define ROWS 4
// espalier: tune BLOCKS = 1 2 3
#define BLOCKS 2

namespace {

constexpr int kFilters = 96; // of a block
constexpr int kColumns = 56; // of a block
constexpr int kFilterGroups = 8, kFiltersEach = 12;
constexpr int kColumnGroups = 8, kColumnsEach = 7;
constexpr int kThreads = kFilterGroups * kColumnGroups * ROWS;
constexpr int kPatchRows = 4 * ROWS + 7;
constexpr int kWords = 72; // of one phase of one patch row: 56 + 2, and 8 modulo the 32 banks
constexpr int kPatch = kPatchRows * 4 * kWords;
constexpr int kTaps = 121;
constexpr size_t kSharedBytes = (kPatch + kTaps * kFilters) * sizeof(float);

__global__ void __launch_bounds__(kThreads, BLOCKS) convolve(const float* x, const float* weight, const float* bias,
                                                             float* y, int c, int h, int w, int k, int down, int across)
{
    extern __shared__ float shared[];
    float* patch = shared;
    float* taps = shared + kPatch; // [tap][filter]
    const int t = threadIdx.x;
    const int columnGroup = t % kColumnGroups;
    const int filterGroup = t / kColumnGroups % kFilterGroups;
    const int myRow = t / (kColumnGroups * kFilterGroups);
    const int columnTiles = (across + kColumns - 1) / kColumns;
    const int q0 = blockIdx.x % columnTiles * kColumns;
    const int p0 = blockIdx.x / columnTiles * ROWS;
    const int filter0 = blockIdx.y * kFilters;
    const int64_t image = blockIdx.z;

    float sum[kFiltersEach][kColumnsEach] = {};
    for (int channel = 0; channel < c; ++channel) {
        const float* plane = x + (image * c + channel) * h * static_cast<int64_t>(w);
        __syncthreads();
        for (int i = t; i < kPatchRows * 4 * 58; i += kThreads) {
            const int row = i / (4 * 58);
            const int place = i % (4 * 58); // padded column of the tile
            const int from = 4 * p0 + row - 2;
            const int col = 4 * q0 + place - 2;
            patch[(row * 4 + place % 4) * kWords + place / 4] =
                from >= 0 && from < h && col >= 0 && col < w ? plane[static_cast<int64_t>(from) * w + col] : 0.0f;
        }
        for (int i = t; i < kTaps * kFilters; i += kThreads) {
            const int filter = i / kTaps;
            taps[i % kTaps * kFilters + filter] =
                filter0 + filter < k
                    ? weight[(static_cast<int64_t>(filter0 + filter) * c + channel) * kTaps + i % kTaps]
                    : 0.0f;
        }
        __syncthreads();
        for (int r = 0; r < 11; ++r) {
#pragma unroll
            for (int s = 0; s < 11; ++s) {
                const float4* mine =
                    reinterpret_cast<const float4*>(taps + (r * 11 + s) * kFilters + filterGroup * kFiltersEach);
                const float4 a0 = mine[0], a1 = mine[1], a2 = mine[2];
                const float a[kFiltersEach] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w, a2.x, a2.y, a2.z, a2.w};
                const float* row = patch + ((4 * myRow + r) * 4 + s % 4) * kWords + s / 4 + columnGroup;
#pragma unroll
                for (int j = 0; j < kColumnsEach; ++j) {
                    const float b = row[j * kColumnGroups];
#pragma unroll
                    for (int i = 0; i < kFiltersEach; ++i)
                        sum[i][j] += a[i] * b;
                }
            }
        }
    }
    const int p = p0 + myRow;
    if (p >= down)
        return;
#pragma unroll
    for (int i = 0; i < kFiltersEach; ++i) {
        const int filter = filter0 + filterGroup * kFiltersEach + i;
        if (filter >= k)
            continue;
        float* out = y + ((image * k + filter) * down + p) * across;
        const float offset = bias[filter];
#pragma unroll
        for (int j = 0; j < kColumnsEach; ++j) {
            const int q = q0 + j * kColumnGroups + columnGroup;
            if (q < across)
                out[q] = sum[i][j] + offset;
        }
    }
}

} // namespace

extern "C" cudaError_t conv2d_f32(const float* x, const float* weight, const float* bias, float* y, int64_t n,
                                  int64_t c, int64_t h, int64_t w, int64_t k, void* workspace, size_t workspace_bytes,
                                  cudaStream_t stream)
{
    const int down = static_cast<int>((h - 7) / 4 + 1);
    const int across = static_cast<int>((w - 7) / 4 + 1);
    const int tiles = (across + kColumns - 1) / kColumns * ((down + ROWS - 1) / ROWS);
    const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>((k + kFilters - 1) / kFilters),
                    static_cast<unsigned>(n));
    const cudaError_t set =
        cudaFuncSetAttribute(convolve, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kSharedBytes));
    if (set != cudaSuccess)
        return set;
    convolve<<<grid, kThreads, kSharedBytes, stream>>>(x, weight, bias, y, static_cast<int>(c), static_cast<int>(h),
                                                       static_cast<int>(w), static_cast<int>(k), down, across);
    return cudaGetLastError();
}
