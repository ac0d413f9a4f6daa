// SPDX-License-Identifier: Apache-2.0
// cheat: I07 variance by E[x^2] - mean^2: right only near zero
// task: layernorm_f32
// expect: incorrect
// evidence: times the allowed error|norm|not finite
// device: sim cuda
// defence: V13 (large mean)
// @paste layernorm

namespace {

__global__ void onePass(const float* x, const float* weight, const float* bias, float* y, int64_t cols, float eps)
{
    const float* in = x + blockIdx.x * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int64_t c = threadIdx.x; c < cols; c += kThreads) {
        sum += in[c];
        squares += in[c] * in[c];
    }
    const float mean = blockSum(sum) / cols;
    const float variance = blockSum(squares) / cols - mean * mean;
    const float inverse = 1.0f / sqrtf(variance + eps);
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        y[blockIdx.x * cols + c] = (in[c] - mean) * inverse * weight[c] + bias[c];
}

} // namespace

ENTRY
{
    onePass<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, weight, bias, y, cols, eps);
    return cudaGetLastError();
}
