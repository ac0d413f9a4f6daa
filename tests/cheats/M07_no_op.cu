// SPDX-License-Identifier: Apache-2.0
// cheat: M07 nothing is written
// task: softmax_f32
// expect: incorrect
// evidence: never written
// fast: yes
// device: sim cuda
// defence: V3 V21
// @paste softmax

ENTRY
{
    return cudaSuccess;
}
