// SPDX-License-Identifier: Apache-2.0
// cheat: H14 the kernel traps after its answer
// task: softmax_f32
// expect: runtime_failed
// evidence: trap instruction
// evidence-cuda: CUDA 715|CUDA 718|CUDA 719|CUDA 710
// device: sim cuda
// defence: V1 (sticky errors end the runner)
// varies: the driver decides how it names a trap
// @paste softmax

namespace {

__global__ void trap()
{
    __trap();
}

} // namespace

ENTRY
{
    honest(x, y, rows, cols, stream);
    trap<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}
