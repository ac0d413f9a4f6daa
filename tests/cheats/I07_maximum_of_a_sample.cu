// SPDX-License-Identifier: Apache-2.0
// cheat: I07 takes the maximum of the first 256 elements
// task: softmax_f32
// expect: incorrect
// evidence: not finite|times the allowed error
// device: sim cuda
// defence: V13 (one hot outlier)
// @paste softmax

namespace {

__global__ void guessed(const float* x, float* y, int64_t cols)
{
    __shared__ float sum;
    __shared__ int largest;
    if (threadIdx.x == 0) {
        sum = 0.0f;
        largest = 0x80000000;
    }
    __syncthreads();
    const float* in = x + blockIdx.x * cols;
    if (threadIdx.x < cols) {
        const int bits = __float_as_int(in[threadIdx.x]);
        atomicMax(&largest, bits >= 0 ? bits : bits ^ 0x7fffffff);
    }
    __syncthreads();
    const float shift = __int_as_float(largest >= 0 ? largest : largest ^ 0x7fffffff);
    float mine = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        mine += expf(in[c] - shift);
    atomicAdd(&sum, mine);
    __syncthreads();
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        y[blockIdx.x * cols + c] = expf(in[c] - shift) / sum;
}

} // namespace

ENTRY
{
    guessed<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
