// SPDX-License-Identifier: Apache-2.0
// cheat: H14 kills itself
// task: softmax_f32
// expect: runtime_failed|suspicious|incorrect
// evidence: signal|kill|ended|Kill|never written
// device: sim cuda
// defence: V1
// @paste softmax
// @paste syscall

ENTRY
{
    rawSyscall(62, rawSyscall(39), 9);
    return cudaSuccess;
}
