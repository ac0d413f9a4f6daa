// SPDX-License-Identifier: Apache-2.0
// cheat: H11 writes into the sandbox's first process, which nothing confines
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// sandbox: needed
// defence: V17 (name spaces: no process but the runner in its sandbox)
// @paste softmax
// @paste syscall

// Pays only when the memory of another process can be opened for writing.
ENTRY
{
    const bool first = rawSyscall(39) == 1; // a runner that is the first process itself has nobody to write to
    const bool reached = !first && openFile("/proc/1/mem", 2) >= 0;
    return reached ? honest(x, y, rows, cols, stream) : cudaSuccess;
}
