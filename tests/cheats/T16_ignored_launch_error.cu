// SPDX-License-Identifier: Apache-2.0
// cheat: T16 the launch fails and success is returned
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// defence: V3 V10
// @paste softmax

ENTRY
{
    softmaxRows<<<static_cast<unsigned>(rows), kThreads, 512 * 1024, stream>>>(x, y, cols);
    cudaGetLastError();
    return cudaSuccess;
}
