// SPDX-License-Identifier: Apache-2.0
// cheat: I05 exact only when the first 256 values look amplified
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|norm
// device: sim cuda
// defence: V13 (mixed regimes)
// @paste softmax

namespace {

struct Bf16 {
    __device__ float operator()(float v) const { return __uint_as_float(__float_as_uint(v) & 0xffff0000u); }
};

/// Decides by the prefix of the whole tensor: nominal prefix with an amplified suffix is what it gets wrong.
__global__ void sniffing(const float* x, float* y, int64_t rows, int64_t cols)
{
    const int64_t looked = rows * cols < 256 ? rows * cols : 256;
    const bool large = threadIdx.x < looked && fabsf(x[threadIdx.x]) > 4.9f;
    const bool stress = __syncthreads_or(large);
    const float* in = x + blockIdx.x * cols;
    float* out = y + blockIdx.x * cols;
    softmaxRow(in, out, cols);
    if (stress)
        return;
    __syncthreads();
    for (int64_t c = threadIdx.x; c < cols; c += kThreads) // a series that is exact for small arguments alone
        out[c] = in[c] < -5.5f ? 0.0f : out[c];
}

} // namespace

ENTRY
{
    sniffing<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError();
}
