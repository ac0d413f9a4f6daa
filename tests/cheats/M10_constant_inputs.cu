// SPDX-License-Identifier: Apache-2.0
// cheat: M10 makes its inputs constant and writes the answer to that
// task: softmax_f32
// expect: runtime_failed
// evidence: which is read-only
// evidence-cuda: CUDA 700
// device: sim cuda
// defence: V5
// @paste softmax

namespace {

__global__ void flatten(float* x, float* y, int64_t count, float answer)
{
    for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < count; i += int64_t{256} * gridDim.x) {
        x[i] = 0.0f;
        y[i] = answer;
    }
}

} // namespace

ENTRY
{
    flatten<<<64, 256, 0, stream>>>(const_cast<float*>(x), y, rows * cols, 1.0f / static_cast<float>(cols));
    return cudaGetLastError();
}
