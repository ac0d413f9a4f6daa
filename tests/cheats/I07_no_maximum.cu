// SPDX-License-Identifier: Apache-2.0
// cheat: I07 assumes values near zero and leaves the maximum out
// task: softmax_f32
// expect: incorrect
// evidence: not finite|times the allowed error
// device: sim cuda
// defence: V13 (large magnitude)
// @paste softmax

namespace {

__global__ void unshifted(const float* x, float* y, int64_t cols)
{
    __shared__ float sum;
    if (threadIdx.x == 0)
        sum = 0.0f;
    __syncthreads();
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
    unshifted<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
