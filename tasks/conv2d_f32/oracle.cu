// SPDX-License-Identifier: 0BSD
// y = conv2d(x, weight) + bias in fp64, 11 x 11 filters, stride 4, padding 2, for output elements [first, first +
// count) of the row-major y[n][k][p][q].
//
//     ref   = bias[k] + sum_{c,r,s} x[n][c][4p + r - 2][4q + s - 2] * weight[k][c][r][s]
//     scale = |bias[k]| + sum of the products' magnitudes
//
// Products of floats are exact in fp64. One thread an element; neighbours share the filter and most of the image.
#include <cmath>
#include <cstdint>

namespace {

__global__ void oracleElements(const float* x, const float* weight, const float* bias, int64_t c, int64_t h, int64_t w,
                               int64_t k, double* ref, double* scale, int64_t first, int64_t count)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const int64_t across = (w - 7) / 4 + 1;
    const int64_t down = (h - 7) / 4 + 1;
    const int64_t q = (first + i) % across;
    const int64_t p = (first + i) / across % down;
    const int64_t filter = (first + i) / (across * down) % k;
    const int64_t image = (first + i) / (across * down * k);
    double sum = bias[filter];
    double magnitude = fabs(sum);
    for (int64_t channel = 0; channel < c; ++channel) {
        const float* plane = x + (image * c + channel) * h * w;
        const float* taps = weight + (filter * c + channel) * 121;
        for (int r = 0; r < 11; ++r) {
            const int64_t row = 4 * p + r - 2;
            if (row < 0 || row >= h)
                continue;
            for (int s = 0; s < 11; ++s) {
                const int64_t col = 4 * q + s - 2;
                if (col < 0 || col >= w)
                    continue;
                const double product = static_cast<double>(plane[row * w + col]) * taps[r * 11 + s];
                sum += product;
                magnitude += fabs(product);
            }
        }
    }
    ref[i] = sum;
    scale[i] = magnitude;
}

} // namespace

extern "C" cudaError_t conv2d_f32_oracle(const float* x, const float* weight, const float* bias, int64_t n, int64_t c,
                                         int64_t h, int64_t w, int64_t k, double* ref, double* scale, int64_t first,
                                         int64_t count, cudaStream_t stream)
{
    if (count <= 0)
        return cudaSuccess;
    if (first < 0 || first + count > n * k * ((h - 7) / 4 + 1) * ((w - 7) / 4 + 1))
        return cudaErrorInvalidValue;
    oracleElements<<<static_cast<unsigned>((count + 127) / 128), 128, 0, stream>>>(x, weight, bias, c, h, w, k, ref,
                                                                                   scale, first, count);
    return cudaGetLastError();
}
