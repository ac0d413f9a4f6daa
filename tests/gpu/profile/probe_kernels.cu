// SPDX-License-Identifier: Apache-2.0
// Kernels whose counts are known by hand, for espalier_profile_probe and for ncu.
#include <cuda_runtime.h>
#include <mma.h>

#include <cstddef>

namespace {

__global__ void copyKernel(const float4* a, float4* b, std::size_t n)
{
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
         i += std::size_t{gridDim.x} * blockDim.x) {
        b[i] = a[i];
    }
}

__global__ void fmaKernel(float* b, int rounds)
{
    float x = threadIdx.x, y = blockIdx.x;
    for (int i = 0; i < rounds; ++i) {
        x = x * 1.0001f + y;
        y = y * 0.9999f + x;
    }
    b[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}

/// Every lane on a line of its own: 32 sectors a request.
__global__ void stridedKernel(const float* a, float* b, std::size_t n)
{
    const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    const std::size_t j = (i * 32) % n;
    b[i % n] = a[j];
}

/// 32-way conflicts in shared memory.
__global__ void conflictKernel(float* b)
{
    __shared__ float tile[32][32];
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32;
    for (int i = 0; i < 64; ++i) {
        tile[lane][row] = static_cast<float>(i + row);
        __syncthreads();
        b[(blockIdx.x * blockDim.x + threadIdx.x)] = tile[lane][(row + i) % 32];
        __syncthreads();
    }
}

/// One 16x16x16 product a warp and round: 8192 operations.
__global__ void tensorKernel(float* c, int rounds)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(a, __float2half(0.01f));
    wmma::fill_fragment(b, __float2half(0.01f));
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < rounds; ++i) {
        wmma::mma_sync(sum, a, b, sum);
    }
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    wmma::store_matrix_sync(c + std::size_t{256} * warp, sum, 16, wmma::mem_row_major);
}

__global__ void faultKernel(float* b)
{
    b[(std::size_t{1} << 42) + threadIdx.x] = 1;
}

cudaStream_t sideStream()
{
    static cudaStream_t stream = [] {
        cudaStream_t made = nullptr;
        cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
        return made;
    }();
    return stream;
}

} // namespace

extern "C" int probe_call(int kind, void* a, void* b, void* c, std::size_t bytes, void* stream)
{
    auto* s = static_cast<cudaStream_t>(stream);
    auto* out = static_cast<float*>(b);
    switch (kind) {
    case 0:
        copyKernel<<<132 * 8, 256, 0, s>>>(static_cast<float4*>(a), static_cast<float4*>(b), bytes / 16);
        break;
    case 1:
        fmaKernel<<<132 * 8, 256, 0, s>>>(out, 20000);
        break;
    case 2:
        stridedKernel<<<8192, 256, 0, s>>>(static_cast<float*>(a), out, bytes / 4);
        break;
    case 3:
        conflictKernel<<<132 * 4, 1024, 0, s>>>(out);
        break;
    case 4:
        tensorKernel<<<132 * 4, 256, 0, s>>>(out, 2000);
        break;
    case 5:
        faultKernel<<<1, 32, 0, s>>>(out);
        break;
    case 6: // several kernels, a copy and a memset
        cudaMemsetAsync(c, 0, 1 << 20, s);
        copyKernel<<<132 * 8, 256, 0, s>>>(static_cast<float4*>(a), static_cast<float4*>(b), bytes / 16);
        fmaKernel<<<132, 256, 0, s>>>(out, 100);
        cudaMemcpyAsync(c, a, 1 << 20, cudaMemcpyDeviceToDevice, s);
        break;
    case 7: // work that nobody joins
        fmaKernel<<<132, 256, 0, s>>>(out, 100);
        fmaKernel<<<132 * 8, 256, 0, sideStream()>>>(static_cast<float*>(c), 20000);
        break;
    default:
        return 1;
    }
    return cudaGetLastError();
}
