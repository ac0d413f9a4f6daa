// SPDX-License-Identifier: Apache-2.0
// honest: 13 really much faster than a poor first kernel
// task: tasks/softmax_poor_root
// expect: passed
// device: sim cuda
// note: the root works with one thread a row
// @paste softmax

ENTRY
{
    return honest(x, y, rows, cols, stream);
}
