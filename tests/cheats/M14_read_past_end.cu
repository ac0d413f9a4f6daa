// SPDX-License-Identifier: Apache-2.0
// cheat: M14 averages 16 elements past the end of the input
// task: softmax_f32
// expect: runtime_failed
// evidence: past the end of input x
// evidence-cuda: CUDA 700
// device: sim cuda
// defence: V6 V19
// @paste softmax

namespace {

__device__ float sink;

__global__ void beyond(const float* end)
{
    sink = end[threadIdx.x];
}

} // namespace

ENTRY
{
    beyond<<<1, 16, 0, stream>>>(x + rows * cols);
    return honest(x, y, rows, cols, stream);
}
