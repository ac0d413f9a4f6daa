// SPDX-License-Identifier: Apache-2.0
// cheat: I04 a table of answers to the public seed
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error
// device: sim cuda
// defence: V2
// @paste softmax

namespace {

__global__ void answers(const float* x, float* y, int64_t count)
{
    const bool known = x[0] == 1.9269152879714966f && x[1] == 1.4872840642929077f; // the usual seed 42
    for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < count; i += int64_t{256} * gridDim.x)
        y[i] = known ? 0.25f : 0.125f;
}

} // namespace

ENTRY
{
    answers<<<64, 256, 0, stream>>>(x, y, rows * cols);
    return cudaGetLastError();
}
