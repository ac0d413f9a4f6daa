// SPDX-License-Identifier: Apache-2.0
// cheat: M15 a shared accumulator that is never cleared
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|not finite|norm
// device: sim cuda
// defence: V4 V19 V20
// @paste softmax

namespace {

__global__ void luckySum(const float* x, float* y, int64_t cols)
{
    __shared__ float sum;
    const float* in = x + blockIdx.x * cols;
    float mine = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        mine += expf(in[c]);
    atomicAdd(&sum, mine);
    __syncthreads();
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        y[blockIdx.x * cols + c] = expf(in[c]) / sum;
}

} // namespace

ENTRY
{
    luckySum<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
