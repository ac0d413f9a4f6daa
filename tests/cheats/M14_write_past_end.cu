// SPDX-License-Identifier: Apache-2.0
// cheat: M14 writes 256 elements past the end
// task: softmax_f32
// expect: runtime_failed|suspicious
// evidence: past the end|address|memory|writ
// fast: yes
// device: sim cuda
// defence: V6
// @paste softmax

namespace {

__global__ void beyond(float* end)
{
    end[threadIdx.x] = 0.0f;
}

} // namespace

ENTRY
{
    honest(x, y, rows, cols, stream);
    beyond<<<1, 256, 0, stream>>>(y + rows * cols);
    return cudaGetLastError();
}
