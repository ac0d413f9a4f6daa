// SPDX-License-Identifier: Apache-2.0
// cheat: M14 writes one element past the end
// task: softmax_f32
// expect: runtime_failed
// evidence: past the end of output y
// evidence-cuda: past the end of output y|CUDA 700
// device: sim cuda
// defence: V6
// varies: whether the end of the data is the end of the mapping depends on the case
// @paste softmax

namespace {

__global__ void beyond(float* end)
{
    *end = 0.0f;
}

} // namespace

ENTRY
{
    honest(x, y, rows, cols, stream);
    beyond<<<1, 1, 0, stream>>>(y + rows * cols);
    return cudaGetLastError();
}
