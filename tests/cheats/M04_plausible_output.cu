// SPDX-License-Identifier: Apache-2.0
// cheat: M04 computes only where the output is no probability
// task: softmax_f32
// expect: incorrect
// evidence: never written|previous|times the allowed error
// device: sim cuda
// defence: V3 (a foreign right answer, in every case)
// @paste softmax

namespace {

__global__ void whereImplausible(const float* x, float* y, int64_t cols)
{
    const float before = y[blockIdx.x * cols];
    __syncthreads();
    if (!(before > 0.0f && before <= 1.0f))
        softmaxRow(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

} // namespace

ENTRY
{
    whereImplausible<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
