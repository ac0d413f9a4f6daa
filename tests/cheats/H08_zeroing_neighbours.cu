// SPDX-License-Identifier: Apache-2.0
// cheat: H08 zeroes small allocations around its own
// task: softmax_f32
// expect: runtime_failed
// evidence: before the start of output y
// evidence-cuda: before the start of output y|CUDA 700
// device: sim cuda
// defence: V6 V1
// varies: on a GPU the stores past the end may reach the unmapped guard before anything is read back
// @paste softmax

namespace {

__global__ void zeroAround(float* y, int64_t count)
{
    y[-1 - static_cast<int>(threadIdx.x)] = 0.0f;
    y[count + threadIdx.x] = 0.0f;
}

} // namespace

ENTRY
{
    honest(x, y, rows, cols, stream);
    zeroAround<<<1, 64, 0, stream>>>(y, rows * cols);
    return cudaGetLastError();
}
