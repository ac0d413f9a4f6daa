// SPDX-License-Identifier: Apache-2.0
// honest: 7 sums in one fixed order where the contract asks for the same bits
// task: tasks/softmax_bitwise
// expect: passed
// device: sim cuda
// defence: V20
// @paste softmax

ENTRY
{
    return honest(x, y, rows, cols, stream);
}
