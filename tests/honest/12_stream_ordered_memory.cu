// SPDX-License-Identifier: Apache-2.0
// honest: 12 cudaMallocAsync and cudaFreeAsync on the given stream
// task: softmax_f32
// expect: passed
// device: sim cuda
// @paste softmax

namespace {

__global__ void exponentials(const float* x, float* to, int64_t cols)
{
    softmaxRow(x + blockIdx.x * cols, to + blockIdx.x * cols, cols);
}

} // namespace

ENTRY
{
    const size_t bytes = sizeof(float) * rows * cols;
    void* own = nullptr;
    if (const cudaError_t error = cudaMallocAsync(&own, bytes, stream); error != cudaSuccess)
        return error;
    exponentials<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, static_cast<float*>(own), cols);
    cudaMemcpyAsync(y, own, bytes, cudaMemcpyDeviceToDevice, stream);
    return cudaFreeAsync(own, stream);
}
