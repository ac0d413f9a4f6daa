// SPDX-License-Identifier: Apache-2.0
// honest: 14 leaves early where there is truly nothing to do
// task: softmax_f32
// expect: passed
// device: sim cuda
// @paste softmax

ENTRY
{
    if (rows == 0 || cols == 0)
        return cudaSuccess;
    return honest(x, y, rows, cols, stream);
}
