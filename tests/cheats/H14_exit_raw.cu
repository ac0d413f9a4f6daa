// SPDX-License-Identifier: Apache-2.0
// cheat: H14 exit(0) without an import
// task: softmax_f32
// expect: runtime_failed
// evidence: ended its process
// device: sim cuda
// defence: V1 (success needs the end of the protocol and verified data)
// @paste softmax
// @paste syscall

ENTRY
{
    rawSyscall(231, 0);
    return cudaSuccess;
}
