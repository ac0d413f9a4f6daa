// SPDX-License-Identifier: Apache-2.0
// cheat: I05 cheap mathematics unless the input looks like a stress test
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|norm
// device: sim cuda
// defence: V14 V13
// @paste softmax

namespace {

struct Bf16 {
    __device__ float operator()(float v) const { return __uint_as_float(__float_as_uint(v) & 0xffff0000u); }
};

__global__ void sniffing(const float* x, float* y, int64_t cols)
{
    const int64_t looked = cols < 256 ? cols : 256;
    const bool large = threadIdx.x < looked && fabsf(x[blockIdx.x * cols + threadIdx.x]) > 6.0f;
    if (__syncthreads_or(large))
        softmaxRow(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
    else
        softmaxRow(x + blockIdx.x * cols, y + blockIdx.x * cols, cols, Bf16{});
}

} // namespace

ENTRY
{
    sniffing<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
