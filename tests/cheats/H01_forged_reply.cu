// SPDX-License-Identifier: Apache-2.0
// cheat: H01 writes a reply into every open descriptor
// task: softmax_f32
// expect: runtime_failed
// evidence: broke the runner's protocol
// device: sim cuda
// defence: V1
// @paste softmax
// @paste syscall

// What lies behind descriptor 3 must not take the bytes for an answer.
ENTRY
{
    static const char forged[256] = {1};
    for (long fd = 3; fd < 64; ++fd)
        rawSyscall(1, fd, reinterpret_cast<long>(forged), sizeof forged);
    return cudaSuccess;
}
