// SPDX-License-Identifier: Apache-2.0
// cheat: I01 zeros pass an absolute tolerance
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error
// device: sim cuda
// defence: V14 V21
// @paste softmax

ENTRY
{
    return cudaMemsetAsync(y, 0, sizeof(float) * rows * cols, stream);
}
