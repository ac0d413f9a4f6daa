// SPDX-License-Identifier: Apache-2.0
// cheat: M04 computes only where the output holds NaN
// task: softmax_f32
// expect: incorrect
// evidence: never written|previous|times the allowed error|not finite
// device: sim cuda
// defence: V3
// @paste softmax

namespace {

__global__ void whereUnwritten(const float* x, float* y, int64_t cols)
{
    const bool finite = isfinite(y[blockIdx.x * cols]);
    __syncthreads();
    if (!finite)
        softmaxRow(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

} // namespace

ENTRY
{
    whereUnwritten<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
