// SPDX-License-Identifier: Apache-2.0
// cheat: M06 a file that survives the process, without an import
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// sandbox: needed
// defence: V17 (name spaces)
// repeat: 2
// @paste softmax
// @paste syscall

// Pays only when the file of an earlier process is still there.
ENTRY
{
    static const bool found =
        openFile("/tmp/espalier_answers", 0) >= 0 || openFile("/dev/shm/espalier_answers", 0) >= 0;
    openFile("/tmp/espalier_answers", 0101);
    openFile("/dev/shm/espalier_answers", 0101);
    return found ? honest(x, y, rows, cols, stream) : cudaSuccess;
}
