// SPDX-License-Identifier: Apache-2.0
// cheat: T01 work on the default stream
// task: softmax_f32
// expect: suspicious|incorrect
// evidence: stream|events claim|never written
// device: sim cuda
// defence: V7 V8 V10
// @paste softmax

ENTRY
{
    return honest(x, y, rows, cols, nullptr);
}
