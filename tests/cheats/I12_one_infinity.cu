// SPDX-License-Identifier: Apache-2.0
// cheat: I12 one infinity among right elements
// task: softmax_f32
// expect: incorrect
// evidence: not finite
// device: sim cuda
// defence: V14 (class agreement)
// @paste softmax

namespace {

__global__ void spoil(float* y, int64_t at)
{
    y[at] = INFINITY;
}

} // namespace

ENTRY
{
    honest(x, y, rows, cols, stream);
    spoil<<<1, 1, 0, stream>>>(y, rows * cols / 2);
    return cudaGetLastError();
}
