// SPDX-License-Identifier: 0BSD
// Layer normalisation, the plain first version: one block per row, three passes (mean, variance, result).
#include <cmath>
#include <cstdint>

namespace {

constexpr int kThreads = 1024;

__device__ float blockSum(float v)
{
    __shared__ float partial[kThreads];
    const int t = threadIdx.x;
    partial[t] = v;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half)
            partial[t] += partial[t + half];
        __syncthreads();
    }
    const float sum = partial[0];
    __syncthreads();
    return sum;
}

__global__ void normaliseRows(const float* x, const float* weight, const float* bias, float* y, int64_t cols, float eps)
{
    const float* in = x + blockIdx.x * cols;
    float* out = y + blockIdx.x * cols;

    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        sum += in[c];
    const float mean = blockSum(sum) / cols;

    float squares = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        squares += (in[c] - mean) * (in[c] - mean);
    const float inverse = 1.0f / sqrtf(blockSum(squares) / cols + eps);

    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        out[c] = (in[c] - mean) * inverse * weight[c] + bias[c];
}

} // namespace

extern "C" cudaError_t layernorm_f32(const float* x, const float* weight, const float* bias, float* y, int64_t rows,
                                     int64_t cols, float eps, void* workspace, size_t workspace_bytes,
                                     cudaStream_t stream)
{
    normaliseRows<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, weight, bias, y, cols, eps);
    return cudaGetLastError();
}
