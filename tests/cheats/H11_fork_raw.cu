// SPDX-License-Identifier: Apache-2.0
// cheat: H11 fork without an import
// task: softmax_f32
// expect: runtime_failed|suspicious
// evidence: signal|system call|process|ended
// device: sim cuda
// defence: V17 (seccomp, pid namespace)
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
