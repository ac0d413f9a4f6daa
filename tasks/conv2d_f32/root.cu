// SPDX-License-Identifier: 0BSD
// Convolution with 11 x 11 filters, stride 4, padding 2, the plain first version: one output element a thread.
#include <cstdint>

namespace {

constexpr int kSize = 11;
constexpr int kStride = 4;
constexpr int kPad = 2;
constexpr int kThreads = 128;

__global__ void convolve(const float* x, const float* weight, const float* bias, float* y, int64_t c, int64_t h,
                         int64_t w, int64_t k, int64_t down, int64_t across, int64_t total)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= total)
        return;
    const int64_t q = i % across;
    const int64_t p = i / across % down;
    const int64_t filter = i / (across * down) % k;
    const int64_t image = i / (across * down * k);

    float sum = bias[filter];
    for (int64_t channel = 0; channel < c; ++channel) {
        const float* plane = x + (image * c + channel) * h * w;
        const float* taps = weight + (filter * c + channel) * kSize * kSize;
        for (int r = 0; r < kSize; ++r) {
            const int64_t row = kStride * p + r - kPad;
            if (row < 0 || row >= h)
                continue;
            for (int s = 0; s < kSize; ++s) {
                const int64_t col = kStride * q + s - kPad;
                if (col >= 0 && col < w)
                    sum += plane[row * w + col] * taps[r * kSize + s];
            }
        }
    }
    y[i] = sum;
}

} // namespace

extern "C" cudaError_t conv2d_f32(const float* x, const float* weight, const float* bias, float* y, int64_t n,
                                  int64_t c, int64_t h, int64_t w, int64_t k, void* workspace, size_t workspace_bytes,
                                  cudaStream_t stream)
{
    const int64_t down = (h + 2 * kPad - kSize) / kStride + 1;
    const int64_t across = (w + 2 * kPad - kSize) / kStride + 1;
    const int64_t total = n * k * down * across;
    convolve<<<static_cast<unsigned>((total + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        x, weight, bias, y, c, h, w, k, down, across, total);
    return cudaGetLastError();
}
