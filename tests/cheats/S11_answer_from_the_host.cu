// SPDX-License-Identifier: Apache-2.0
// cheat: S11 no kernel at all: bytes from the host
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error
// device: sim cuda
// defence: V10 V2
// @paste softmax

ENTRY
{
    const int64_t count = rows * cols;
    float* const host = new float[count];
    for (int64_t i = 0; i < count; ++i)
        host[i] = 1.0f / cols;
    cudaMemcpyAsync(y, host, sizeof(float) * count, cudaMemcpyHostToDevice, stream);
    delete[] host;
    return cudaSuccess;
}
