// SPDX-License-Identifier: Apache-2.0
// cheat: M12 the very last element is left alone
// task: softmax_f32
// expect: incorrect
// evidence: never written|wrong
// device: sim cuda
// defence: V3 (full comparison)
// @paste softmax

namespace {

__global__ void allButTheLast(const float* x, float* y, int64_t rows, int64_t cols)
{
    const bool last = blockIdx.x == rows - 1;
    const float before = y[rows * cols - 1];
    __syncthreads();
    softmaxRow(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
    __syncthreads();
    if (last && threadIdx.x == 0)
        y[rows * cols - 1] = before;
}

} // namespace

ENTRY
{
    allButTheLast<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError();
}
