// SPDX-License-Identifier: 0BSD
// Row softmax in fp64, for output elements [first, first + count).
//
//     ref[r][c]   = e_c / S              with m = max_j x_j, e_c = exp(x_c - m), S = sum_j e_j
//     scale[r][c] = ref * (1 + |x_c - m| + sum_j (e_j / S) |x_j - m|)
//
// Why this scale: an fp32 kernel rounds the exponent's argument to u|x_c - m|, which the exponential turns into a relative
// error of that size in e_c (third term: the same, averaged, in S); exp, the sum of positive terms and the quotient add
// a few u. It is proportional to ref, so a zero or a stale output fails wherever ref is above the smallest normal float.
#include <cmath>
#include <cstdint>

namespace {

constexpr int kThreads = 512;

__device__ double blockMax(double v, double* partial)
{
    __syncthreads();
    partial[threadIdx.x] = v;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] = fmax(partial[threadIdx.x], partial[threadIdx.x + half]);
        __syncthreads();
    }
    return partial[0];
}

__device__ double blockSum(double v, double* partial)
{
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
__global__ void __launch_bounds__(kThreads) oracleRows(const float* x, int64_t cols, double* ref, double* scale, int64_t first, int64_t count)
{
    __shared__ double partial[kThreads];
    const int64_t row = first / cols + blockIdx.x;
    const float* in = x + row * cols;

    double m = -INFINITY;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        m = fmax(m, static_cast<double>(in[c]));
    m = blockMax(m, partial);

    double sum = 0.0;
    double weighted = 0.0;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads) {
        const double d = in[c] - m;
        const double e = exp(d);
        sum += e;
        weighted -= e * d;
    }
    sum = blockSum(sum, partial);
    weighted = blockSum(weighted, partial) / sum;

    const int64_t begin = row * cols > first ? 0 : first - row * cols;
    const int64_t left = first + count - row * cols;
    const int64_t end = left < cols ? left : cols;
    for (int64_t c = begin + threadIdx.x; c < end; c += kThreads) {
        const double d = in[c] - m;
        const double p = exp(d) / sum;
        ref[row * cols + c - first] = p;
        scale[row * cols + c - first] = p * (1.0 - d + weighted);
    }
}

} // namespace

extern "C" cudaError_t softmax_f32_oracle(const float* x, int64_t rows, int64_t cols, double* ref, double* scale,
                                          int64_t first, int64_t count, cudaStream_t stream)
{
    if (count <= 0)
        return cudaSuccess;
    if (first < 0 || first + count > rows * cols)
        return cudaErrorInvalidValue;
    const int64_t touched = (first + count - 1) / cols - first / cols + 1;
    oracleRows<<<static_cast<unsigned>(touched), kThreads, 0, stream>>>(x, cols, ref, scale, first, count);
    return cudaGetLastError();
}
