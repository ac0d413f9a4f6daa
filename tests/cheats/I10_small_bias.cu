// SPDX-License-Identifier: Apache-2.0
// cheat: I10 every element is a little too large, each within its own bound
// task: matmul_f32
// expect: incorrect
// evidence: norm
// device: sim cuda
// defence: V14 (norm bound)
// @paste matmul

namespace {

__global__ void enlarge(float* c, int64_t count)
{
    constexpr float bias = 1.0f + 10 * 5.9604645e-8f; // ten units of rounding, where sixteen are allowed
    for (int64_t i = blockIdx.x * int64_t{256} + threadIdx.x; i < count; i += int64_t{256} * gridDim.x)
        c[i] *= bias;
}

} // namespace

ENTRY
{
    if (const cudaError_t error = honest(a, b, c, m, n, k, stream); error != cudaSuccess)
        return error;
    enlarge<<<64, 256, 0, stream>>>(c, m * n);
    return cudaGetLastError();
}
