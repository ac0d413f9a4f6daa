// SPDX-License-Identifier: 0BSD
// The gated activation in fp64, for output elements [first, first + count).
//
//     ref[i]   = g / (1 + exp(-g)) * u
//     scale[i] = |ref|
//
// Why this scale: the exponential, the sum of positive terms, the quotient and the product each round once or twice,
// relative to the result; nothing cancels.
#include <cmath>
#include <cstdint>

namespace {

constexpr int kThreads = 256;

__global__ void oracle(const float* g, const float* u, double* ref, double* scale, int64_t first, int64_t count)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= count)
        return;
    const double x = g[first + i];
    const double value = x / (1.0 + exp(-x)) * u[first + i];
    ref[i] = value;
    scale[i] = fabs(value);
}

} // namespace

extern "C" cudaError_t swiglu_f32_oracle(const float* g, const float* u, int64_t n, double* ref, double* scale,
                                         int64_t first, int64_t count, cudaStream_t stream)
{
    if (count <= 0)
        return cudaSuccess;
    if (first < 0 || first + count > n)
        return cudaErrorInvalidValue;
    oracle<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(g, u, ref, scale, first,
                                                                                              count);
    return cudaGetLastError();
}
