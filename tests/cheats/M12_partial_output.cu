// SPDX-License-Identifier: Apache-2.0
// cheat: M12 one row fewer after the third call
// task: softmax_f32
// expect: incorrect
// evidence: never written|wrong|previous
// device: sim cuda
// defence: V3 V11
// @paste softmax

ENTRY
{
    static int calls = 0;
    return ++calls <= 3 || rows == 1 ? honest(x, y, rows, cols, stream) : honest(x, y, rows - 1, cols, stream);
}
