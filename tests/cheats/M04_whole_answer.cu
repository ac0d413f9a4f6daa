// SPDX-License-Identifier: Apache-2.0
// cheat: M04 computes only rows that are no softmax yet: not in [0, 1] or not of sum 1
// task: softmax_f32
// expect: incorrect
// evidence: previous call's answer|wrong
// device: sim cuda
// defence: V3 (the right answer to other inputs)
// @paste softmax

namespace {

__global__ void unlessAnswered(const float* x, float* y, int64_t cols)
{
    __shared__ float partial[kThreads];
    const float* row = y + blockIdx.x * cols;
    const int t = threadIdx.x;
    float sum = 0.0f;
    bool plausible = true;
    for (int64_t c = t; c < cols; c += kThreads) {
        plausible = plausible && row[c] >= 0.0f && row[c] <= 1.0f;
        sum += row[c];
    }
    partial[t] = sum;
    const bool all = __syncthreads_and(plausible);
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half)
            partial[t] += partial[t + half];
        __syncthreads();
    }
    const bool answered = all && fabsf(partial[0] - 1.0f) < 1e-3f;
    __syncthreads();
    if (!answered)
        softmaxRow(x + blockIdx.x * cols, y + blockIdx.x * cols, cols);
}

} // namespace

ENTRY
{
    unlessAnswered<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
