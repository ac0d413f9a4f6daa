// SPDX-License-Identifier: Apache-2.0
// cheat: H14 the call never returns
// task: softmax_f32
// expect: timed_out
// evidence: deadline| s
// device: sim cuda
// defence: deadlines from outside
// slow: yes
// @paste softmax

ENTRY
{
    for (volatile int i = 0;; i = i + 1) {
    }
}
