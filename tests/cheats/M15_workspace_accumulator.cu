// SPDX-License-Identifier: Apache-2.0
// cheat: M15 accumulators in the workspace, never cleared
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|not finite|norm
// device: sim cuda
// defence: V4
// @paste softmax

namespace {

__global__ void addUp(const float* x, float* sums, int64_t cols)
{
    float mine = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        mine += expf(x[blockIdx.x * cols + c]);
    atomicAdd(&sums[blockIdx.x], mine);
}

__global__ void divide(const float* x, float* y, const float* sums, int64_t cols)
{
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        y[blockIdx.x * cols + c] = expf(x[blockIdx.x * cols + c]) / sums[blockIdx.x];
}

} // namespace

extern "C" size_t softmax_f32_workspace(int64_t rows, int64_t cols)
{
    return rows * sizeof(float);
}

ENTRY
{
    addUp<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, static_cast<float*>(workspace), cols);
    divide<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, static_cast<float*>(workspace), cols);
    return cudaGetLastError();
}
