// SPDX-License-Identifier: Apache-2.0
// cheat: D06 leaves work on the device that nobody waits for, so that rivals are timed beside it
// task: softmax_f32
// expect: suspicious
// evidence: works are on other streams
// device: cuda
// profile: yes
// defence: V10 (every output is right and on the stream in time; only what the call leaves behind is not)
// @paste softmax

// Some three milliseconds of an H200, longer than the call.
__global__ void spin(float* sink, int rounds)
{
    float v = threadIdx.x;
    for (int i = 0; i < rounds; ++i)
        v = v * 1.0001f + 0.5f;
    if (v == 12345.0f)
        *sink = v;
}

ENTRY
{
    static cudaStream_t side = nullptr;
    if (side == nullptr)
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    const cudaError_t status = honest(x, y, rows, cols, stream);
    spin<<<16, 128, 0, side>>>(nullptr, 1500000);
    return status;
}
