// SPDX-License-Identifier: Apache-2.0
// cheat: H11 fork without an import
// task: softmax_f32
// expect: suspicious
// evidence: a system call that no kernel needs
// device: sim cuda
// defence: V17 (seccomp, pid name space)
// @paste softmax
// @paste syscall

ENTRY
{
    if (rawSyscall(57) == 0) {
        rawSyscall(112);
        for (;;)
            rawSyscall(34);
    }
    return honest(x, y, rows, cols, stream);
}
