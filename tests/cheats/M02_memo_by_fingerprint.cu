// SPDX-License-Identifier: Apache-2.0
// cheat: M02 memo keyed on 64 sampled elements
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|previous
// device: sim cuda
// defence: V11 (one element, or all but a window) V24
// @paste softmax

namespace {

__device__ float memo[32768], sample[64];
__device__ int64_t keptCount = 0;

/// One block: the kept answer if 64 elements at a fixed stride are those of the last call, else honest work.
__global__ void sampled(const float* x, float* y, int64_t rows, int64_t cols)
{
    const int64_t count = rows * cols;
    const int64_t at = threadIdx.x * (count / 64 > 0 ? count / 64 : 1) % count;
    const bool differs = threadIdx.x < 64 && (sample[threadIdx.x] != x[at] || keptCount != count);
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
    if (threadIdx.x < 64)
        sample[threadIdx.x] = x[at];
    keptCount = count;
}

} // namespace

ENTRY
{
    if (rows * cols > 32768)
        return honest(x, y, rows, cols, stream);
    sampled<<<1, kThreads, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError();
}
