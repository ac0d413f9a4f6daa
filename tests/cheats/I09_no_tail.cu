// SPDX-License-Identifier: Apache-2.0
// cheat: I09 vectorised without a tail
// task: softmax_f32
// expect: incorrect
// evidence: never written|times the allowed error|not finite
// device: sim cuda
// defence: V13 (odd sizes)
// @paste softmax

namespace {

/// Softmax of whole groups of four; what is left over at the end of a row is not touched.
__global__ void inFours(const float* x, float* y, int64_t cols)
{
    const float4* in = reinterpret_cast<const float4*>(x + blockIdx.x * (cols / 4 * 4));
    float4* out = reinterpret_cast<float4*>(y + blockIdx.x * (cols / 4 * 4));
    softmaxRow(reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out), cols / 4 * 4);
}

} // namespace

ENTRY
{
    inFours<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
