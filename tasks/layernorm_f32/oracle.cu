// SPDX-License-Identifier: 0BSD
// Layer normalisation in fp64, for output elements [first, first + count).
//
//     ref[r][c]   = (x - m) * s * w_c + b_c       with m = mean x, s = 1 / sqrt(mean (x - m)^2 + eps)
//     scale[r][c] = (|x - m| + |x| + A) * s * |w_c| + |b_c|     with A = mean |x|
//
// Why this scale: an fp32 mean carries an error of u times the magnitudes that went into it (A), which shifts x - m;
// the difference, the variance's relative error and the products add a few u of |x - m| s |w|; |x| allows the form x *
// (s w) + (b - m s w). Nothing grows with mean^2 / variance, so a variance from E[x^2] - mean^2 fails where rows lie
// far from zero.
#include <cmath>
#include <cstdint>

namespace {

constexpr int kThreads = 1024;

__device__ double blockSum(double v)
{
    __shared__ double partial[kThreads];
    __syncthreads();
    partial[threadIdx.x] = v;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

// One block per row that the range touches; each finds its row's statistics anew, so a range may start anywhere.
__global__ void __launch_bounds__(kThreads)
    oracleRows(const float* x, const float* weight, const float* bias, int64_t cols, double eps, double* ref,
               double* scale, int64_t first, int64_t count)
{
    const int64_t row = first / cols + blockIdx.x;
    const float* in = x + row * cols;

    double sum = 0.0;
    double magnitudes = 0.0;
#pragma unroll 8
    for (int64_t c = threadIdx.x; c < cols; c += kThreads) {
        sum += in[c];
        magnitudes += fabsf(in[c]);
    }
    const double mean = blockSum(sum) / cols;
    const double meanMagnitude = blockSum(magnitudes) / cols;
    double squares = 0.0;
#pragma unroll 8
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        squares += (in[c] - mean) * (in[c] - mean);
    const double inverse = 1.0 / sqrt(blockSum(squares) / cols + eps);

    const int64_t begin = row * cols > first ? 0 : first - row * cols;
    const int64_t left = first + count - row * cols;
    const int64_t end = left < cols ? left : cols;
#pragma unroll 4
    for (int64_t c = begin + threadIdx.x; c < end; c += kThreads) {
        const double v = in[c];
        const double w = weight[c];
        const double b = bias[c];
        ref[row * cols + c - first] = (v - mean) * inverse * w + b;
        scale[row * cols + c - first] = (fabs(v - mean) + fabs(v) + meanMagnitude) * inverse * fabs(w) + fabs(b);
    }
}

} // namespace

extern "C" cudaError_t layernorm_f32_oracle(const float* x, const float* weight, const float* bias, int64_t rows,
                                            int64_t cols, float eps, double* ref, double* scale, int64_t first,
                                            int64_t count, cudaStream_t stream)
{
    if (count <= 0)
        return cudaSuccess;
    if (first < 0 || first + count > rows * cols)
        return cudaErrorInvalidValue;
    const int64_t touched = (first + count - 1) / cols - first / cols + 1;
    oracleRows<<<static_cast<unsigned>(touched), kThreads, 0, stream>>>(x, weight, bias, cols, eps, ref, scale, first,
                                                                        count);
    return cudaGetLastError();
}
