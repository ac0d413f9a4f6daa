// SPDX-License-Identifier: Apache-2.0
// cheat: M11 the answer lies in a buffer of its own
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// defence: V3; the ABI has no way to redirect an output
// @paste softmax

namespace {

__device__ float own[32768];

} // namespace

ENTRY
{
    void* base = nullptr;
    cudaGetSymbolAddress(&base, own);
    return rows * cols <= 32768 ? honest(x, static_cast<float*>(base), rows, cols, stream) : cudaSuccess;
}
