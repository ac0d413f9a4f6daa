// SPDX-License-Identifier: Apache-2.0
// Candidates for y = 2x on the simulated device, one library per CANDIDATE_KIND, and the oracle in every one of them.
#include <cstdint>
#include <cstdlib>
#include <cuda_runtime.h>

#define KIND_honest 1
#define KIND_zero 2
#define KIND_partial 3
#define KIND_write_past_end 4
#define KIND_read_past_end 5
#define KIND_endless_device 6
#define KIND_write_input 7
#define KIND_side_stream 8
#define KIND_exit_zero 9
#define KIND_endless_host 10
#define KIND_wide_block 11
#define KIND_much_shared 12
#define KIND_deep_grid 13
#define KIND_JOIN2(a) KIND_##a
#define KIND_JOIN(a) KIND_JOIN2(a)
#define IS(kind) (KIND_JOIN(CANDIDATE_KIND) == KIND_##kind)

namespace {

__global__ void candidate(const float* x, float* y, int64_t n)
{
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
#if IS(endless_device)
    while (*reinterpret_cast<const volatile float*>(x) != 1e30f) {
    }
#endif
    if (i >= n) {
        return;
    }
#if IS(zero)
    y[i] = 0;
#elif IS(partial)
    if (i != 17) {
        y[i] = 2 * x[i];
    }
#elif IS(write_past_end)
    y[i + 1] = 2 * x[i];
#elif IS(read_past_end)
    y[i] = x[i] + x[i + 1];
#elif IS(write_input)
    const_cast<float*>(x)[i] = 0;
#else
    y[i] = 2 * x[i];
#endif
}

__global__ void oracle(const float* x, double* ref, double* scale, int64_t first, int64_t count)
{
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < count) {
        ref[i] = 2.0 * x[first + i];
        scale[i] = fabs(ref[i]);
    }
}

unsigned blocksFor(int64_t n)
{
    return static_cast<unsigned>((n + 127) / 128);
}

} // namespace

extern "C" cudaError_t double_f32(const float* x, float* y, int64_t n, void*, size_t, cudaStream_t stream)
{
#if IS(side_stream)
    static cudaStream_t side = nullptr;
    if (!side) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    }
    stream = side;
#endif
#if IS(wide_block)
    candidate<<<blocksFor(n), dim3(64, 20), 0, stream>>>(x, y, n);
#elif IS(much_shared)
    candidate<<<blocksFor(n), 128, 60000, stream>>>(x, y, n);
#elif IS(deep_grid) // and nobody asks what came of it
    candidate<<<dim3(1, 1, 70000), 128, 0, stream>>>(x, y, n);
    cudaGetLastError();
#else
    candidate<<<blocksFor(n), 128, 0, stream>>>(x, y, n);
#endif
#if IS(exit_zero)
    exit(0);
#elif IS(endless_host)
    for (volatile int i = 0;; i = i + 1) {
    }
#endif
    return cudaGetLastError();
}

extern "C" cudaError_t double_f32_oracle(const float* x, int64_t, double* ref, double* scale, int64_t first,
                                         int64_t count, cudaStream_t stream)
{
    oracle<<<blocksFor(count), 128, 0, stream>>>(x, ref, scale, first, count);
    return cudaGetLastError();
}
