// SPDX-License-Identifier: 0BSD
// Root mean square normalisation in fp64, for output elements [first, first + count).
//
//     ref[r][c]   = x / sqrt(mean x^2 + eps) * w_c
//     scale[r][c] = 2 |ref|
//
// Why this scale: the mean of squares is a sum of positive terms and its relative error is halved by the root; division
// and product round relative to the result. The factor 2 is for the root's share.
#include <cmath>
#include <cstdint>

namespace {

constexpr int kThreads = 512;

__global__ void __launch_bounds__(kThreads) oracleRows(const float* x, const float* w, int64_t cols, double eps,
                                                       double* ref, double* scale, int64_t first, int64_t count)
{
    __shared__ double partial[kThreads];
    const int64_t row = first / cols + blockIdx.x;
    const float* in = x + row * cols;
    double squares = 0.0;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        squares += static_cast<double>(in[c]) * in[c];
    partial[threadIdx.x] = squares;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    const double inverse = 1.0 / sqrt(partial[0] / cols + eps);

    const int64_t begin = row * cols > first ? 0 : first - row * cols;
    const int64_t left = first + count - row * cols;
    const int64_t end = left < cols ? left : cols;
    for (int64_t c = begin + threadIdx.x; c < end; c += kThreads) {
        const double value = in[c] * inverse * w[c];
        ref[row * cols + c - first] = value;
        scale[row * cols + c - first] = 2.0 * fabs(value);
    }
}

} // namespace

extern "C" cudaError_t rmsnorm_f32_oracle(const float* x, const float* w, int64_t rows, int64_t cols, float eps,
                                          double* ref, double* scale, int64_t first, int64_t count, cudaStream_t stream)
{
    if (count <= 0)
        return cudaSuccess;
    if (first < 0 || first + count > rows * cols)
        return cudaErrorInvalidValue;
    const int64_t touched = (first + count - 1) / cols - first / cols + 1;
    oracleRows<<<static_cast<unsigned>(touched), kThreads, 0, stream>>>(x, w, cols, eps, ref, scale, first, count);
    return cudaGetLastError();
}
