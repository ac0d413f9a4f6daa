// SPDX-License-Identifier: Apache-2.0
// cheat: M10 clears its inputs and outputs
// task: softmax_f32
// expect: incorrect
// expect-sim: runtime_failed
// evidence: times the allowed error
// evidence-sim: which is read-only
// device: sim cuda
// defence: V5
// note: on a GPU the driver refuses the first memset, which the candidate ignores
// @paste softmax

ENTRY
{
    const size_t bytes = sizeof(float) * rows * cols;
    cudaMemsetAsync(const_cast<float*>(x), 0, bytes, stream);
    cudaMemsetAsync(y, 0, bytes, stream);
    return cudaSuccess;
}
