// SPDX-License-Identifier: Apache-2.0
// cheat: M09 zeroes what lies 2 MiB further on
// task: softmax_f32
// expect: runtime_failed
// evidence: past the end of output y
// evidence-cuda: CUDA 700
// device: sim cuda
// defence: V6 V1
// @paste softmax

namespace {

__global__ void zeroAll(float* to, int64_t count)
{
    for (int64_t i = threadIdx.x; i < count; i += kThreads)
        to[i] = 0.0f;
}

} // namespace

ENTRY
{
    honest(x, y, rows, cols, stream);
    for (int step = 1; step <= 4; ++step)
        zeroAll<<<1, kThreads, 0, stream>>>(y + step * (2 << 20) / static_cast<int>(sizeof(float)), rows * cols);
    return cudaGetLastError();
}
