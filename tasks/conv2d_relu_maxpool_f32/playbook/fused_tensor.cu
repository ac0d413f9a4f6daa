// SPDX-License-Identifier: 0BSD
// Convolution with 11 x 11 filters, stride 4, padding 2, relu and max pooling over 3 x 3 with stride 2, fused, on the
// tensor cores with TF32 operands (mma.sync, fp32 sums). A block computes POOLED pooled rows of 27 columns, for which
// it needs 2 * POOLED + 1 rows of 55, for 96 filters; a pair of warps shares a row, each with 48 filters: 3 x 7
// products of 16 x 8. The filters are rounded and put into the order of the operand's registers once, in the workspace.
// The patch of one channel is stored by column modulo 4; 121 taps are 15 steps of eight and one with zeros. The rows
// are pooled through the same shared memory, 16 filters of each half at a time.
#include <cstdint>

// espalier: tune POOLED = 1 2 3 4
#define POOLED 3
// espalier: tune BLOCKS = 1 2 3
#define BLOCKS 1
// espalier: tune-if (2 * POOLED + 1) * BLOCKS <= 10

namespace {

constexpr int ROWS = 2 * POOLED + 1; // of the convolution
constexpr int kFilters = 96, kColumns = 56, kPooledColumns = 27;
constexpr int kTaps = 121, kSteps = 16;
constexpr int kThreads = 64 * ROWS;
constexpr int kPatchRows = 4 * ROWS + 7;
constexpr int kWords = 72; // of one phase of one patch row: 56 + 2, and 8 modulo the 32 banks
constexpr int kPatch = kPatchRows * 4 * kWords;
constexpr int kOperand = kSteps * 6 * 32 * 4; // arranged filters of one channel, in words
constexpr size_t kSharedBytes = (kOperand + kPatch + kSteps * 8) * sizeof(float);

__device__ unsigned rounded(float value)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
}

/// [group of 96 filters][channel][step][16 filters][lane][register]: register 0 and 1 are filters lane / 4 and 8 more
/// of tap lane % 4, registers 2 and 3 the same of the tap four further on.
__global__ void arrange(const float* weight, unsigned* arranged, int c, int k, int total)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total)
        return;
    const int reg = i % 4, lane = i / 4 % 32, tile = i / 128 % 6, step = i / 768 % kSteps;
    const int channel = i / kOperand % c, group = i / kOperand / c;
    const int filter = group * kFilters + tile * 16 + lane / 4 + reg % 2 * 8;
    const int tap = step * 8 + lane % 4 + reg / 2 * 4;
    const bool there = filter < k && tap < kTaps;
    arranged[i] = there ? rounded(weight[(static_cast<int64_t>(filter) * c + channel) * kTaps + tap]) : 0u;
}

__global__ void __launch_bounds__(kThreads, BLOCKS)
    convolve(const float* x, const unsigned* arranged, const float* bias, float* y, int c, int h, int w, int k,
             int pooledDown, int pooledAcross)
{
    extern __shared__ uint4 shared[];
    uint4* operand = shared;
    unsigned* patch = reinterpret_cast<unsigned*>(shared) + kOperand;
    int* places = reinterpret_cast<int*>(patch + kPatch); // of each tap in the patch
    const int t = threadIdx.x, lane = t % 32, half = t / 32 % 2, myRow = t / 64;
    const int columnTiles = (pooledAcross + kPooledColumns - 1) / kPooledColumns;
    const int pooledQ0 = blockIdx.x % columnTiles * kPooledColumns;
    const int pooledP0 = blockIdx.x / columnTiles * POOLED;
    const int q0 = 2 * pooledQ0, p0 = 2 * pooledP0;
    const int group = blockIdx.y;
    const int64_t image = blockIdx.z;
    for (int tap = t; tap < kSteps * 8; tap += kThreads) {
        const int r = tap / 11, s = tap % 11;
        places[tap] = tap < kTaps ? (r * 4 + s % 4) * kWords + s / 4 : 0; // the others meet zeros of the filters
    }

    float sum[3][7][4] = {};
    for (int channel = 0; channel < c; ++channel) {
        const float* plane = x + (image * c + channel) * h * static_cast<int64_t>(w);
        __syncthreads();
        const uint4* from =
            reinterpret_cast<const uint4*>(arranged) + (static_cast<int64_t>(group) * c + channel) * (kOperand / 4);
#pragma unroll 4
        for (int i = t; i < kOperand / 4; i += kThreads)
            operand[i] = from[i];
#pragma unroll 4
        for (int i = t; i < kPatchRows * 4 * 58; i += kThreads) {
            const int row = i / (4 * 58);
            const int place = i % (4 * 58);
            const int line = 4 * p0 + row - 2;
            const int col = 4 * q0 + place - 2;
            const bool there = line >= 0 && line < h && col >= 0 && col < w;
            patch[(row * 4 + place % 4) * kWords + place / 4] =
                there ? rounded(plane[static_cast<int64_t>(line) * w + col]) : 0u;
        }
        __syncthreads();
        const unsigned* mine = patch + 4 * myRow * 4 * kWords + lane / 4;
#pragma unroll 2
        for (int step = 0; step < kSteps; ++step) {
            uint4 a[3];
#pragma unroll
            for (int i = 0; i < 3; ++i)
                a[i] = operand[(step * 6 + half * 3 + i) * 32 + lane];
            const unsigned* near = mine + places[step * 8 + lane % 4];
            const unsigned* far = mine + places[step * 8 + lane % 4 + 4];
#pragma unroll
            for (int j = 0; j < 7; ++j) {
                const unsigned b0 = near[j * 8], b1 = far[j * 8];
#pragma unroll
                for (int i = 0; i < 3; ++i)
                    asm volatile(
                        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                        "{%8, %9}, {%0, %1, %2, %3};"
                        : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
                        : "r"(a[i].x), "r"(a[i].y), "r"(a[i].z), "r"(a[i].w), "r"(b0), "r"(b1));
            }
        }
    }
    float* rows = reinterpret_cast<float*>(shared); // [half][filter of 16][row][column]
    static_assert(2 * 16 * ROWS * kColumns <= kOperand + kPatch, "the pooled rows use the operands' memory");
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        __syncthreads();
#pragma unroll
        for (int part = 0; part < 2; ++part) {
            const int place = lane / 4 + part * 8;
            const int filter = group * kFilters + (half * 3 + i) * 16 + place;
            const float offset = filter < k ? bias[filter] : 0.0f;
            float* row = rows + ((half * 16 + place) * ROWS + myRow) * kColumns + lane % 4 * 2;
#pragma unroll
            for (int j = 0; j < 7; ++j) {
                row[j * 8] = fmaxf(sum[i][j][part * 2] + offset, 0.0f);
                row[j * 8 + 1] = fmaxf(sum[i][j][part * 2 + 1] + offset, 0.0f);
            }
        }
        __syncthreads();
        for (int e = t; e < 32 * POOLED * kPooledColumns; e += kThreads) {
            const int column = e % kPooledColumns;
            const int row = e / kPooledColumns % POOLED;
            const int place = e / (kPooledColumns * POOLED);
            const int filter = group * kFilters + (place / 16 * 3 + i) * 16 + place % 16;
            if (filter >= k || pooledP0 + row >= pooledDown || pooledQ0 + column >= pooledAcross)
                continue;
            const float* window = rows + (place * ROWS + 2 * row) * kColumns + 2 * column;
            float largest = 0.0f;
#pragma unroll
            for (int dp = 0; dp < 3; ++dp)
#pragma unroll
                for (int dq = 0; dq < 3; ++dq)
                    largest = fmaxf(largest, window[dp * kColumns + dq]);
            y[((image * k + filter) * pooledDown + pooledP0 + row) * pooledAcross + pooledQ0 + column] = largest;
        }
    }
}

} // namespace

extern "C" cudaError_t conv2d_relu_maxpool_f32(const float* x, const float* weight, const float* bias, float* y,
                                               int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, void* workspace,
                                               size_t workspace_bytes, cudaStream_t stream)
{
    const int pooledDown = static_cast<int>(((h - 7) / 4 - 2) / 2 + 1);
    const int pooledAcross = static_cast<int>(((w - 7) / 4 - 2) / 2 + 1);
    const int groups = static_cast<int>((k + kFilters - 1) / kFilters);
    const int total = groups * static_cast<int>(c) * kOperand;
    unsigned* arranged = static_cast<unsigned*>(workspace);
    const cudaError_t set =
        cudaFuncSetAttribute(convolve, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kSharedBytes));
    if (set != cudaSuccess)
        return set;
    arrange<<<static_cast<unsigned>((total + 255) / 256), 256, 0, stream>>>(weight, arranged, static_cast<int>(c),
                                                                            static_cast<int>(k), total);
    const int tiles = (pooledAcross + kPooledColumns - 1) / kPooledColumns * ((pooledDown + POOLED - 1) / POOLED);
    const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(groups), static_cast<unsigned>(n));
    convolve<<<grid, kThreads, kSharedBytes, stream>>>(x, arranged, bias, y, static_cast<int>(c), static_cast<int>(h),
                                                       static_cast<int>(w), static_cast<int>(k), pooledDown,
                                                       pooledAcross);
    return cudaGetLastError();
}

extern "C" size_t conv2d_relu_maxpool_f32_workspace(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k)
{
    return static_cast<size_t>((k + kFilters - 1) / kFilters * c) * kOperand * sizeof(float);
}
