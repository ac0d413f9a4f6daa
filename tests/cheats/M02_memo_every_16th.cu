// SPDX-License-Identifier: Apache-2.0
// cheat: M02 memo keyed on every 16th element
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|previous
// device: sim cuda
// defence: V11 (one element)
// @paste softmax

namespace {

__device__ float memo[32768], sample[2048];
__device__ int64_t keptCount = 0;

/// One block: the kept answer if every 16th element is that of the last call, else honest work.
__global__ void sampled(const float* x, float* y, int64_t rows, int64_t cols)
{
    const int64_t count = rows * cols;
    bool differs = keptCount != count;
    for (int64_t i = threadIdx.x; i < count / 16; i += kThreads)
        differs |= sample[i] != x[16 * i];
    if (!__syncthreads_or(differs)) {
        for (int64_t i = threadIdx.x; i < count; i += kThreads)
            y[i] = memo[i];
        return;
    }
    for (int64_t row = 0; row < rows; ++row)
        softmaxRow(x + row * cols, y + row * cols, cols);
    __syncthreads();
    for (int64_t i = threadIdx.x; i < count; i += kThreads)
        memo[i] = y[i];
    for (int64_t i = threadIdx.x; i < count / 16; i += kThreads)
        sample[i] = x[16 * i];
    __syncthreads();
    keptCount = count;
}

} // namespace

ENTRY
{
    if (rows * cols < 2048 || rows * cols > 32768)
        return honest(x, y, rows, cols, stream);
    sampled<<<1, kThreads, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError();
}
