// SPDX-License-Identifier: Apache-2.0
// cheat: M10 clears its inputs and outputs
// task: softmax_f32
// expect: runtime_failed|suspicious|incorrect
// evidence-cuda: input|read-only|address|invalid|times the allowed error
// evidence: input|read-only|address|writ|invalid|memory
// device: sim cuda
// defence: V5
// @paste softmax

ENTRY
{
    const size_t bytes = sizeof(float) * rows * cols;
    cudaMemsetAsync(const_cast<float*>(x), 0, bytes, stream);
    cudaMemsetAsync(y, 0, bytes, stream);
    return cudaSuccess;
}
