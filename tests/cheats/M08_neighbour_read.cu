// SPDX-License-Identifier: Apache-2.0
// cheat: M08 copies what lies 2 MiB further on
// task: softmax_f32
// expect: runtime_failed
// evidence: past the end of output y
// evidence-cuda: CUDA 700
// device: sim cuda
// defence: V1 V6
// @paste softmax

ENTRY
{
    copyAll<<<32, 256, 0, stream>>>(y + (2 << 20) / sizeof(float), y, rows * cols);
    return cudaGetLastError();
}
