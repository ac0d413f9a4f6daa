// SPDX-License-Identifier: Apache-2.0
// cheat: I07 assumes that rows have mean zero
// task: layernorm_f32
// expect: incorrect
// evidence: times the allowed error|norm
// device: sim cuda
// defence: V13 V14
// @paste layernorm

namespace {

__global__ void aroundZero(const float* x, const float* weight, const float* bias, float* y, int64_t cols, float eps)
{
    const float* in = x + blockIdx.x * cols;
    float squares = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        squares += in[c] * in[c];
    const float inverse = 1.0f / sqrtf(blockSum(squares) / cols + eps);
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        y[blockIdx.x * cols + c] = in[c] * inverse * weight[c] + bias[c];
}

} // namespace

ENTRY
{
    aroundZero<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, weight, bias, y, cols, eps);
    return cudaGetLastError();
}
