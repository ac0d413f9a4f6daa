// SPDX-License-Identifier: Apache-2.0
// honest: 11 a cooperative kernel: a barrier over the grid between sums and results
// task: softmax_f32
// expect: passed
// device: cuda
// @paste softmax

#include <cooperative_groups.h>

namespace {

constexpr int kBlocks = 64;

/// Every block adds up its share of each row; after the barrier every block divides its share.
__global__ void together(const float* x, float* y, float2* parts, int64_t rows, int64_t cols)
{
    __shared__ float partial[kThreads];
    const int t = threadIdx.x;
    for (int64_t row = 0; row < rows; ++row) {
        float largest = -INFINITY, sum = 0.0f;
        for (int64_t c = blockIdx.x * int64_t{kThreads} + t; c < cols; c += kBlocks * kThreads) {
            const float v = x[row * cols + c], most = fmaxf(largest, v);
            sum = (largest == -INFINITY ? 0.0f : sum * expf(largest - most)) + expf(v - most);
            largest = most;
        }
        partial[t] = largest;
        __syncthreads();
        for (int half = kThreads / 2; half > 0; half /= 2) {
            if (t < half)
                partial[t] = fmaxf(partial[t], partial[t + half]);
            __syncthreads();
        }
        const float most = partial[0];
        __syncthreads();
        partial[t] = largest == -INFINITY ? 0.0f : sum * expf(largest - most);
        __syncthreads();
        for (int half = kThreads / 2; half > 0; half /= 2) {
            if (t < half)
                partial[t] += partial[t + half];
            __syncthreads();
        }
        if (t == 0)
            parts[row * kBlocks + blockIdx.x] = make_float2(most, partial[0]);
        __syncthreads();
    }
    cooperative_groups::this_grid().sync();
    for (int64_t row = 0; row < rows; ++row) {
        float most = -INFINITY, sum = 0.0f;
        for (int b = 0; b < kBlocks; ++b)
            most = fmaxf(most, parts[row * kBlocks + b].x);
        for (int b = 0; b < kBlocks; ++b) {
            const float2 part = parts[row * kBlocks + b];
            sum += part.x == -INFINITY ? 0.0f : part.y * expf(part.x - most);
        }
        for (int64_t c = blockIdx.x * int64_t{kThreads} + t; c < cols; c += kBlocks * kThreads)
            y[row * cols + c] = expf(x[row * cols + c] - most) / sum;
    }
}

} // namespace

extern "C" size_t softmax_f32_workspace(int64_t rows, int64_t cols)
{
    return rows * kBlocks * sizeof(float2);
}

ENTRY
{
    float2* parts = static_cast<float2*>(workspace);
    void* arguments[] = {&x, &y, &parts, &rows, &cols};
    return cudaLaunchCooperativeKernel(together, dim3(kBlocks), dim3(kThreads), arguments, 0, stream);
}
