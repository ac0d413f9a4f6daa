// SPDX-License-Identifier: Apache-2.0
// cheat: I15 lanes exchange through shared memory without __syncwarp
// task: softmax_f32
// expect: incorrect
// evidence: race
// device: sanitizer
// defence: V19 (racecheck)
// @paste softmax

namespace {

/// A row by one warp; the tree over the lanes lacks its __syncwarp and mostly works.
__global__ void racing(const float* x, float* y, int64_t cols)
{
    __shared__ volatile float partial[32]; // the idiom of the time when a warp ran in step
    const int t = threadIdx.x;
    const float* in = x + blockIdx.x * cols;
    float largest = -INFINITY;
    for (int64_t c = t; c < cols; c += 32)
        largest = fmaxf(largest, in[c]);
    for (int step = 16; step > 0; step /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, step));
    float sum = 0.0f;
    for (int64_t c = t; c < cols; c += 32)
        sum += expf(in[c] - largest);
    partial[t] = sum;
    for (int half = 16; half > 0; half /= 2)
        if (t < half)
            partial[t] = partial[t] + partial[t + half];
    sum = partial[0];
    for (int64_t c = t; c < cols; c += 32)
        y[blockIdx.x * cols + c] = expf(in[c] - largest) / sum;
}

} // namespace

ENTRY
{
    racing<<<static_cast<unsigned>(rows), 32, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
