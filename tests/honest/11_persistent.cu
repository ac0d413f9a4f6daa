// SPDX-License-Identifier: Apache-2.0
// honest: 11 a persistent kernel that ends: blocks take rows from a counter
// task: softmax_f32
// expect: passed
// device: sim cuda
// @paste softmax

namespace {

__global__ void restart(unsigned long long* next)
{
    *next = 0;
}

__global__ void persistent(const float* x, float* y, unsigned long long* next, int64_t rows, int64_t cols)
{
    __shared__ int64_t row;
    for (;;) {
        if (threadIdx.x == 0)
            row = static_cast<int64_t>(atomicAdd(next, 1ull));
        __syncthreads();
        const int64_t mine = row;
        if (mine >= rows)
            return;
        softmaxRow(x + mine * cols, y + mine * cols, cols);
        __syncthreads();
    }
}

} // namespace

extern "C" size_t softmax_f32_workspace(int64_t rows, int64_t cols)
{
    return sizeof(unsigned long long);
}

ENTRY
{
    auto* const next = static_cast<unsigned long long*>(workspace);
    restart<<<1, 1, 0, stream>>>(next);
    const unsigned grid = rows < 132 ? static_cast<unsigned>(rows) : 132;
    persistent<<<grid, kThreads, 0, stream>>>(x, y, next, rows, cols);
    return cudaGetLastError();
}
