// SPDX-License-Identifier: 0BSD
// Convolution with 11 x 11 filters, stride 4, padding 2, then relu, then max pooling over 3 x 3 with stride 2, the
// plain first version: the convolution goes to the workspace, one element a thread; a second kernel takes the maxima.
#include <cstdint>

namespace {

constexpr int kSize = 11;
constexpr int kStride = 4;
constexpr int kPad = 2;
constexpr int kPool = 3;
constexpr int kPoolStride = 2;
constexpr int kThreads = 128;

__global__ void convolve(const float* x, const float* weight, const float* bias, float* z, int64_t c, int64_t h,
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
    z[i] = fmaxf(sum, 0.0f);
}

__global__ void pool(const float* z, float* y, int64_t down, int64_t across, int64_t pooledDown, int64_t pooledAcross,
                     int64_t total)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= total)
        return;
    const int64_t q = i % pooledAcross;
    const int64_t p = i / pooledAcross % pooledDown;
    const float* plane = z + i / (pooledAcross * pooledDown) * down * across;
    float largest = 0.0f;
    for (int dp = 0; dp < kPool; ++dp)
        for (int dq = 0; dq < kPool; ++dq)
            largest = fmaxf(largest, plane[(kPoolStride * p + dp) * across + kPoolStride * q + dq]);
    y[i] = largest;
}

} // namespace

extern "C" cudaError_t conv2d_relu_maxpool_f32(const float* x, const float* weight, const float* bias, float* y,
                                               int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, void* workspace,
                                               size_t workspace_bytes, cudaStream_t stream)
{
    const int64_t down = (h + 2 * kPad - kSize) / kStride + 1;
    const int64_t across = (w + 2 * kPad - kSize) / kStride + 1;
    const int64_t pooledDown = (down - kPool) / kPoolStride + 1;
    const int64_t pooledAcross = (across - kPool) / kPoolStride + 1;
    float* z = static_cast<float*>(workspace);
    const int64_t total = n * k * down * across;
    convolve<<<static_cast<unsigned>((total + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        x, weight, bias, z, c, h, w, k, down, across, total);
    const int64_t pooled = n * k * pooledDown * pooledAcross;
    pool<<<static_cast<unsigned>((pooled + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        z, y, down, across, pooledDown, pooledAcross, pooled);
    return cudaGetLastError();
}

extern "C" size_t conv2d_relu_maxpool_f32_workspace(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k)
{
    const int64_t down = (h + 2 * kPad - kSize) / kStride + 1;
    const int64_t across = (w + 2 * kPad - kSize) / kStride + 1;
    return static_cast<size_t>(n * k * down * across) * sizeof(float);
}
