// SPDX-License-Identifier: 0BSD
// Root mean square normalisation, the plain first version: one block per row, two passes, a tree in shared memory.
#include <cmath>
#include <cstdint>

namespace {

constexpr int kThreads = 256;

__global__ void normaliseRows(const float* x, const float* w, float* y, int64_t cols, float eps)
{
    __shared__ float partial[kThreads];
    const float* in = x + blockIdx.x * cols;
    float* out = y + blockIdx.x * cols;
    const int t = threadIdx.x;

    float squares = 0.0f;
    for (int64_t c = t; c < cols; c += kThreads)
        squares += in[c] * in[c];
    partial[t] = squares;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half)
            partial[t] += partial[t + half];
        __syncthreads();
    }
    const float root = sqrtf(partial[0] / cols + eps);

    for (int64_t c = t; c < cols; c += kThreads)
        out[c] = in[c] / root * w[c];
}

} // namespace

extern "C" cudaError_t rmsnorm_f32(const float* x, const float* w, float* y, int64_t rows, int64_t cols, float eps,
                                   void* workspace, size_t workspace_bytes, cudaStream_t stream)
{
    normaliseRows<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, w, y, cols, eps);
    return cudaGetLastError();
}
