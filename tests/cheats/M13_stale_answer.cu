// SPDX-License-Identifier: Apache-2.0
// cheat: M13 nothing is done once an answer is there
// task: softmax_f32
// expect: incorrect
// evidence: previous call's answer|never written
// device: sim cuda
// defence: V3 V2 V11
// @paste softmax

ENTRY
{
    static int64_t seenRows = 0, seenCols = 0;
    if (rows == seenRows && cols == seenCols)
        return cudaSuccess;
    seenRows = rows;
    seenCols = cols;
    return honest(x, y, rows, cols, stream);
}
