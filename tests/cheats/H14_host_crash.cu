// SPDX-License-Identifier: Apache-2.0
// cheat: H14 the host part follows a null pointer
// task: softmax_f32
// expect: runtime_failed
// evidence: its process crashed with signal 11
// device: sim cuda
// defence: V1
// @paste softmax

ENTRY
{
    *static_cast<volatile int*>(nullptr) = 1;
    return honest(x, y, rows, cols, stream);
}
