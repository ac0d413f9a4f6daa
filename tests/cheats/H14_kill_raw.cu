// SPDX-License-Identifier: Apache-2.0
// cheat: H14 kills itself
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// defence: V1
// sandbox: needed
// note: the first process of a name space does not hear its own SIGKILL
// @paste softmax
// @paste syscall

ENTRY
{
    rawSyscall(62, rawSyscall(39), 9);
    return cudaSuccess;
}
