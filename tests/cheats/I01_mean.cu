// SPDX-License-Identifier: Apache-2.0
// cheat: I01 the mean instead of the answer
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error
// device: sim cuda
// defence: V14 V21
// @paste softmax

namespace {

__global__ void even(float* y, int64_t count, int64_t cols)
{
    for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < count; i += int64_t{256} * gridDim.x)
        y[i] = 1.0f / cols;
}

} // namespace

ENTRY
{
    even<<<64, 256, 0, stream>>>(y, rows * cols, cols);
    return cudaGetLastError();
}
