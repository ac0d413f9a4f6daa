// SPDX-License-Identifier: Apache-2.0
// cheat: H11 replaces itself by another program
// task: softmax_f32
// expect: suspicious
// evidence: a system call that no kernel needs
// device: sim cuda
// defence: V17 (seccomp)
// @paste softmax
// @paste syscall

ENTRY
{
    const char* const words[] = {"/bin/sleep", "1000", nullptr};
    rawSyscall(59, reinterpret_cast<long>(words[0]), reinterpret_cast<long>(words), 0);
    return honest(x, y, rows, cols, stream);
}
