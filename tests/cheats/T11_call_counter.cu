// SPDX-License-Identifier: Apache-2.0
// cheat: T11 honest for three calls, then one row
// task: softmax_f32
// expect: incorrect
// evidence: never written|wrong
// device: sim cuda
// defence: V3 V12
// @paste softmax

ENTRY
{
    static int calls = 0;
    return honest(x, y, calls++ < 3 || rows == 1 ? rows : 1, cols, stream);
}
