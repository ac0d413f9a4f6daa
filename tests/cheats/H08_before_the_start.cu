// SPDX-License-Identifier: Apache-2.0
// cheat: H08 writes one element before the start
// task: softmax_f32
// expect: runtime_failed
// evidence: before the start of output y
// device: sim cuda
// defence: V6
// @paste softmax

namespace {

__global__ void before(float* y)
{
    y[-1] = 0.0f;
}

} // namespace

ENTRY
{
    honest(x, y, rows, cols, stream);
    before<<<1, 1, 0, stream>>>(y);
    return cudaGetLastError();
}
