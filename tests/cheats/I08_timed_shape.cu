// SPDX-License-Identifier: Apache-2.0
// cheat: I08 exact for the gate, fp16 for the timed shape
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|norm
// device: cuda
// defence: V12
// @paste softmax

#include <cuda_fp16.h>

namespace {

struct Half {
    __device__ float operator()(float v) const { return __half2float(__float2half(v)); }
};

__global__ void inHalf(const float* x, float* y, int64_t cols)
{
    softmaxRow(x + blockIdx.x * cols, y + blockIdx.x * cols, cols, Half{});
}

} // namespace

ENTRY
{
    if (rows * cols < (int64_t{1} << 24))
        return honest(x, y, rows, cols, stream);
    inHalf<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
