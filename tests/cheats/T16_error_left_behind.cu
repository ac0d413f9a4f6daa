// SPDX-License-Identifier: Apache-2.0
// cheat: T16 a bad grid, the error is left for someone else
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// defence: V3 V10
// @paste softmax

ENTRY
{
    softmaxRows<<<0, kThreads, 0, stream>>>(x, y, cols);
    return cudaSuccess;
}
