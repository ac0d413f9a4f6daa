// SPDX-License-Identifier: Apache-2.0
// cheat: M15 sums by atomics where the contract asks for the same bits (honest under another contract)
// task: ../honest/tasks/softmax_bitwise
// expect: incorrect
// evidence: determinism: bitwise
// device: cuda
// defence: V20
// @paste softmax

namespace {

constexpr int kParts = 16; // 128 terms a row that no order is set for

__global__ void clear(float* sums, int64_t rows)
{
    for (int64_t i = threadIdx.x; i < 2 * rows; i += kThreads)
        reinterpret_cast<int*>(sums)[i] = i < rows ? 0 : static_cast<int>(0x80000000);
}

__global__ void maxima(const float* x, int* largest, int64_t cols)
{
    for (int64_t c = blockIdx.y * kThreads + threadIdx.x; c < cols; c += kThreads * kParts) {
        const int bits = __float_as_int(x[blockIdx.x * cols + c]);
        atomicMax(&largest[blockIdx.x], bits >= 0 ? bits : bits ^ 0x7fffffff);
    }
}

__device__ float plain(int order)
{
    return __int_as_float(order >= 0 ? order : order ^ 0x7fffffff);
}

__global__ void addUp(const float* x, float* sums, const int* largest, int64_t cols)
{
    float mine = 0.0f;
    for (int64_t c = blockIdx.y * kThreads + threadIdx.x; c < cols; c += kThreads * kParts)
        mine += expf(x[blockIdx.x * cols + c] - plain(largest[blockIdx.x]));
    for (int step = 16; step > 0; step /= 2) // one atomic a warp: their order may differ, the noise stays small
        mine += __shfl_xor_sync(~0u, mine, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sums[blockIdx.x], mine);
}

__global__ void divide(const float* x, float* y, const float* sums, const int* largest, int64_t cols)
{
    for (int64_t c = blockIdx.y * kThreads + threadIdx.x; c < cols; c += kThreads * kParts)
        y[blockIdx.x * cols + c] = expf(x[blockIdx.x * cols + c] - plain(largest[blockIdx.x])) / sums[blockIdx.x];
}

} // namespace

extern "C" size_t softmax_f32_workspace(int64_t rows, int64_t cols)
{
    return 2 * rows * sizeof(float);
}

ENTRY
{
    float* const sums = static_cast<float*>(workspace);
    int* const largest = static_cast<int*>(workspace) + rows;
    const dim3 grid(static_cast<unsigned>(rows), kParts);
    clear<<<1, kThreads, 0, stream>>>(sums, rows);
    maxima<<<grid, kThreads, 0, stream>>>(x, largest, cols);
    addUp<<<grid, kThreads, 0, stream>>>(x, sums, largest, cols);
    divide<<<grid, kThreads, 0, stream>>>(x, y, sums, largest, cols);
    return cudaGetLastError();
}
