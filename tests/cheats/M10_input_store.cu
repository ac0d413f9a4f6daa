// SPDX-License-Identifier: Apache-2.0
// cheat: M10 right answer, then one input element is changed
// task: softmax_f32
// expect: runtime_failed
// evidence: which is read-only
// evidence-cuda: CUDA 700
// device: sim cuda
// defence: V5
// @paste softmax

namespace {

__global__ void spoil(float* x)
{
    x[0] = 0.0f;
}

} // namespace

ENTRY
{
    honest(x, y, rows, cols, stream);
    spoil<<<1, 1, 0, stream>>>(const_cast<float*>(x));
    return cudaGetLastError();
}
