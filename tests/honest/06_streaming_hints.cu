// SPDX-License-Identifier: Apache-2.0
// honest: 6 evict-first and no-allocate hints on streamed data
// task: softmax_f32
// expect: passed
// device: sim cuda
// @paste softmax

namespace {

__device__ float streamed(const float* at)
{
    float v;
    asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(at));
    return v;
}

__global__ void hinted(const float* x, float* y, int64_t cols)
{
    __shared__ float sum;
    __shared__ int order;
    const float* in = x + blockIdx.x * cols;
    if (threadIdx.x == 0) {
        sum = 0.0f;
        order = 0x80000000;
    }
    __syncthreads();
    for (int64_t c = threadIdx.x; c < cols; c += kThreads) {
        const int bits = __float_as_int(streamed(in + c));
        atomicMax(&order, bits >= 0 ? bits : bits ^ 0x7fffffff);
    }
    __syncthreads();
    const float largest = __int_as_float(order >= 0 ? order : order ^ 0x7fffffff);
    float mine = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        mine += expf(__ldcs(in + c) - largest);
    for (int step = 16; step > 0; step /= 2) // one atomic a warp: their order may differ, the noise stays small
        mine += __shfl_xor_sync(~0u, mine, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sum, mine);
    __syncthreads();
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        __stcs(y + blockIdx.x * cols + c, expf(__ldcs(in + c) - largest) / sum);
}

} // namespace

ENTRY
{
    hinted<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
