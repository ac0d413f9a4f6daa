// SPDX-License-Identifier: Apache-2.0
// cheat: I12 one wrong element, the last of many
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error
// device: sim cuda
// defence: full comparison
// @paste softmax

namespace {

__global__ void spoil(float* y, int64_t last)
{
    y[last] *= 1.01f;
}

} // namespace

ENTRY
{
    const cudaError_t status = honest(x, y, rows, cols, stream);
    if (status == cudaSuccess && rows * cols > 2048)
        spoil<<<1, 1, 0, stream>>>(y, rows * cols - 1);
    return status;
}
