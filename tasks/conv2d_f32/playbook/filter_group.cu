// SPDX-License-Identifier: 0BSD
// Convolution with 11 x 11 filters, stride 4, padding 2. A thread computes one pixel for FILTERS filters: a value of
// the image is read once for all of them. One channel of those filters stands in shared memory, the filters side by
// side.
#include <cstdint>

// espalier: tune FILTERS = 4 8 16
#define FILTERS 8
// espalier: tune THREADS = 64 128 256
#define THREADS 128

namespace {

constexpr int kTaps = 121;

__global__ void __launch_bounds__(THREADS)
    convolve(const float* x, const float* weight, const float* bias, float* y, int64_t c, int64_t h, int64_t w,
             int64_t k, int down, int across, int64_t pixels)
{
    __shared__ float taps[kTaps][FILTERS];
    const int64_t pixel = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const int filter0 = blockIdx.y * FILTERS;
    const bool mine = pixel < pixels;
    const int q = static_cast<int>(mine ? pixel % across : 0);
    const int p = static_cast<int>(mine ? pixel / across % down : 0);
    const int64_t image = mine ? pixel / (static_cast<int64_t>(across) * down) : 0;

    float sum[FILTERS] = {};
    for (int64_t channel = 0; channel < c; ++channel) {
        __syncthreads();
        for (int i = threadIdx.x; i < kTaps * FILTERS; i += THREADS) {
            const int filter = filter0 + i % FILTERS;
            taps[i / FILTERS][i % FILTERS] = filter < k ? weight[(filter * c + channel) * kTaps + i / FILTERS] : 0.0f;
        }
        __syncthreads();
        const float* plane = x + (image * c + channel) * h * w;
        for (int r = 0; r < 11; ++r) {
            const int64_t row = 4 * p + r - 2;
            if (row < 0 || row >= h)
                continue;
#pragma unroll
            for (int s = 0; s < 11; ++s) {
                const int64_t col = 4 * q + s - 2;
                const float value = col >= 0 && col < w ? plane[row * w + col] : 0.0f;
#pragma unroll
                for (int f = 0; f < FILTERS; ++f)
                    sum[f] += value * taps[r * 11 + s][f];
            }
        }
    }
    if (!mine)
        return;
#pragma unroll
    for (int f = 0; f < FILTERS; ++f)
        if (filter0 + f < k)
            y[((image * k + filter0 + f) * down + p) * across + q] = sum[f] + bias[filter0 + f];
}

} // namespace

extern "C" cudaError_t conv2d_f32(const float* x, const float* weight, const float* bias, float* y, int64_t n,
                                  int64_t c, int64_t h, int64_t w, int64_t k, void* workspace, size_t workspace_bytes,
                                  cudaStream_t stream)
{
    const int down = static_cast<int>((h - 7) / 4 + 1);
    const int across = static_cast<int>((w - 7) / 4 + 1);
    const int64_t pixels = n * down * across;
    const dim3 grid(static_cast<unsigned>((pixels + THREADS - 1) / THREADS),
                    static_cast<unsigned>((k + FILTERS - 1) / FILTERS));
    convolve<<<grid, THREADS, 0, stream>>>(x, weight, bias, y, c, h, w, k, down, across, pixels);
    return cudaGetLastError();
}
