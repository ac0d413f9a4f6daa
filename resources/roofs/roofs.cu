// SPDX-License-Identifier: Apache-2.0
// What a device reaches at most, measured: one program, built by `espalierctl doctor --roofs` for the device at hand.
// Prints one JSON object: {"device", "uuid", "driver", "runtime", "multiprocessors", "clock_mhz", "roofs": [{"id",
// "measured", "theory", "unit", "sm_mhz", "throttle", "how"}]}; GB/s and GFLOP/s. Nothing is set on the device.
// Operands are noise, not zeros: a tensor core that multiplies zeros draws less power and runs at a clock no kernel
// gets.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <string>
#include <vector>

namespace {

void check(cudaError_t status, const char* what)
{
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
        std::exit(1);
    }
}

// --- kernels ---------------------------------------------------------------------------------------------------------

__global__ void fillNoise(std::uint32_t* words, std::size_t count, std::uint32_t mask, std::uint32_t bits)
{
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
         i += std::size_t{gridDim.x} * blockDim.x) {
        std::uint32_t x = static_cast<std::uint32_t>(i) * 2654435761U + 12345U;
        x ^= x >> 16;
        x *= 2246822519U;
        x ^= x >> 13;
        words[i] = (x & mask) | bits;
    }
}

__device__ uint4 loadStreaming(const uint4* p)
{
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}
__device__ uint4 loadL2(const uint4* p)
{
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}
__device__ uint4 loadL1(const uint4* p)
{
    uint4 v;
    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}
__device__ std::uint32_t folded(uint4 v)
{
    return v.x ^ v.y ^ v.z ^ v.w;
}

__global__ void readMemory(const uint4* p, std::size_t words, std::uint32_t* sink)
{
    constexpr int unroll = 8;
    std::uint32_t sum = 0;
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    for (; i + (unroll - 1) * step < words; i += unroll * step) {
        uint4 v[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            v[u] = loadStreaming(p + i + u * step);
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            sum ^= folded(v[u]);
        }
    }
    if (sum == 0x12345678U) {
        *sink = sum;
    }
}

__global__ void copyMemory(const uint4* a, uint4* b, std::size_t words)
{
    constexpr int unroll = 4;
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    for (; i + (unroll - 1) * step < words; i += unroll * step) {
        uint4 v[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            v[u] = loadStreaming(a + i + u * step);
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            b[i + u * step] = v[u];
        }
    }
}

/// Every block goes round the whole set, from a place of its own.
__global__ void readL2(const uint4* p, std::uint32_t words, int rounds, std::uint32_t* sink)
{
    constexpr int unroll = 8;
    std::uint32_t sum = 0;
    const std::uint32_t step = blockDim.x;
    std::uint32_t at = (blockIdx.x * 7919U * step + threadIdx.x) & (words - 1);
    for (int round = 0; round < rounds; ++round) {
        uint4 v[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            v[u] = loadL2(p + ((at + u * step) & (words - 1)));
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            sum ^= folded(v[u]);
        }
        at = (at + unroll * step) & (words - 1);
    }
    if (sum == 0x12345678U) {
        *sink = sum;
    }
}

/// A window of its own for each multiprocessor's block; no two loads of a warp in a row are of the same line.
__global__ void readL1(const uint4* p, int rounds, std::uint32_t* sink)
{
    constexpr std::uint32_t window = 2048; // words of 16 bytes: 32 KiB
    constexpr int unroll = 8;
    const uint4* mine = p + std::size_t{blockIdx.x} * window;
    std::uint32_t sum = 0;
    std::uint32_t at = threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        uint4 v[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            v[u] = loadL1(mine + ((at + u * 32U * 9U) & (window - 1)));
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            sum ^= folded(v[u]);
        }
        at += 32U;
    }
    if (sum == 0x12345678U) {
        *sink = sum;
    }
}

template <typename T>
__global__ void multiplyAdd(T* out, int rounds, T a, T b)
{
    constexpr int chains = 8;
    T x[chains];
#pragma unroll
    for (int c = 0; c < chains; ++c) {
        x[c] = static_cast<T>(static_cast<float>(threadIdx.x) * 0.001F + static_cast<float>(c));
    }
#pragma unroll 16
    for (int i = 0; i < rounds; ++i) {
#pragma unroll
        for (int c = 0; c < chains; ++c) {
            x[c] = x[c] * a + b;
        }
    }
    T sum = x[0];
#pragma unroll
    for (int c = 1; c < chains; ++c) {
        sum += x[c];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void multiplyAddHalf(__half2* out, int rounds, __half2 a, __half2 b)
{
    constexpr int chains = 8;
    __half2 x[chains];
#pragma unroll
    for (int c = 0; c < chains; ++c) {
        x[c] = __floats2half2_rn(0.001F * static_cast<float>(threadIdx.x), 0.1F * static_cast<float>(c));
    }
#pragma unroll 16
    for (int i = 0; i < rounds; ++i) {
#pragma unroll
        for (int c = 0; c < chains; ++c) {
            x[c] = __hfma2(x[c], a, b);
        }
    }
    __half2 sum = x[0];
#pragma unroll
    for (int c = 1; c < chains; ++c) {
        sum = __hadd2(sum, x[c]);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#define MMA_KERNEL(name, shape, types, A, B, operations)                                                               \
    constexpr double name##Operations = operations;                                                                    \
    __global__ void name(const std::uint32_t* noise, float* out, int rounds)                                           \
    {                                                                                                                  \
        constexpr int tiles = 8;                                                                                       \
        std::uint32_t a[A], b[B];                                                                                      \
        float d[tiles][4] = {};                                                                                        \
        for (int i = 0; i < A; ++i) {                                                                                  \
            a[i] = noise[threadIdx.x * 8 + i];                                                                         \
        }                                                                                                              \
        for (int i = 0; i < B; ++i) {                                                                                  \
            b[i] = noise[threadIdx.x * 8 + 4 + i];                                                                     \
        }                                                                                                              \
        for (int round = 0; round < rounds; ++round) {                                                                 \
            _Pragma("unroll") for (int t = 0; t < tiles; ++t)                                                          \
            {                                                                                                          \
                name##Step(d[t], a, b);                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        float sum = 0;                                                                                                 \
        _Pragma("unroll") for (int t = 0; t < tiles; ++t)                                                              \
        {                                                                                                              \
            sum += d[t][0] + d[t][1] + d[t][2] + d[t][3];                                                              \
        }                                                                                                              \
        out[blockIdx.x * blockDim.x + threadIdx.x] = sum;                                                              \
    }

__device__ void mmaF16Step(float* d, const std::uint32_t* a, const std::uint32_t* b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void mmaBf16Step(float* d, const std::uint32_t* a, const std::uint32_t* b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void mmaTf32Step(float* d, const std::uint32_t* a, const std::uint32_t* b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void mmaInt8Step(float* d, const std::uint32_t* a, const std::uint32_t* b)
{
    int* i = reinterpret_cast<int*>(d);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
                 "%1, %2, %3};"
                 : "+r"(i[0]), "+r"(i[1]), "+r"(i[2]), "+r"(i[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
MMA_KERNEL(mmaF16, m16n8k16, f16, 4, 2, 2.0 * 16 * 8 * 16)
MMA_KERNEL(mmaBf16, m16n8k16, bf16, 4, 2, 2.0 * 16 * 8 * 16)
MMA_KERNEL(mmaTf32, m16n8k8, tf32, 4, 2, 2.0 * 16 * 8 * 8)
MMA_KERNEL(mmaInt8, m16n8k32, s8, 4, 2, 2.0 * 16 * 8 * 32)

__global__ void mmaF64(double* out, int rounds, double x, double y)
{
    constexpr int tiles = 8;
    double d[tiles][2] = {};
    const double a = x + threadIdx.x * 1e-3, b = y - threadIdx.x * 1e-3;
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int t = 0; t < tiles; ++t) {
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+d"(d[t][0]), "+d"(d[t][1])
                         : "d"(a), "d"(b));
        }
    }
    double sum = 0;
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
        sum += d[t][0] + d[t][1];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// wgmma exists on sm_90a alone; both operands from shared memory, no swizzle.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HAS_WGMMA 1
#else
#define HAS_WGMMA 0
#endif

__device__ std::uint64_t descriptorOf(const void* shared)
{
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    return (static_cast<std::uint64_t>(address & 0x3FFFF) >> 4) | (std::uint64_t{8} << 16) | (std::uint64_t{16} << 32);
}

__device__ void wgmmaF16Step(float* d, std::uint64_t a, std::uint64_t b)
{
#if HAS_WGMMA
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, "
        "%5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "
        "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
        "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
          "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
          "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
          "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
#endif
}
__device__ void wgmmaBf16Step(float* d, std::uint64_t a, std::uint64_t b)
{
#if HAS_WGMMA
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, "
        "%4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
        "%27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, "
        "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
          "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
          "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
          "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
#endif
}
__device__ void wgmmaTf32Step(float* d, std::uint64_t a, std::uint64_t b)
{
#if HAS_WGMMA
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {%0, %1, %2, %3, "
        "%4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
        "%27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, "
        "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
          "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
          "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
          "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
#endif
}
__device__ void wgmmaFp8Step(float* d, std::uint64_t a, std::uint64_t b)
{
#if HAS_WGMMA
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {%0, %1, %2, %3, "
        "%4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
        "%27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, "
        "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
          "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
          "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
          "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
#endif
}
__device__ void wgmmaInt8Step(int* d, std::uint64_t a, std::uint64_t b)
{
#if HAS_WGMMA
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {%0, %1, %2, %3, %4, "
        "%5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "
        "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
        "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p; }"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]),
          "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]),
          "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]),
          "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]),
          "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]),
          "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
          "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
          "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
        : "l"(a), "l"(b));
#endif
}

#define WGMMA_KERNEL(name, T)                                                                                          \
    __global__ void __launch_bounds__(256) name(const std::uint32_t* noise, float* out, int rounds)                    \
    {                                                                                                                  \
        __shared__ alignas(1024) std::uint32_t tiles[8192];                                                            \
        for (int i = threadIdx.x; i < 8192; i += blockDim.x) {                                                         \
            tiles[i] = noise[i];                                                                                       \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        T d[64] = {};                                                                                                  \
        const std::uint64_t a = descriptorOf(tiles + (threadIdx.x / 128) * 2048), b = descriptorOf(tiles + 4096);      \
        for (int round = 0; round < rounds; ++round) {                                                                 \
            if constexpr (HAS_WGMMA) {                                                                                 \
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                \
                _Pragma("unroll") for (int k = 0; k < 4; ++k)                                                          \
                {                                                                                                      \
                    name##Step(d, a + 32 * k, b + 32 * k);                                                             \
                }                                                                                                      \
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                                         \
                asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");                                         \
            }                                                                                                          \
        }                                                                                                              \
        T sum = 0;                                                                                                     \
        _Pragma("unroll") for (int i = 0; i < 64; ++i)                                                                 \
        {                                                                                                              \
            sum += d[i];                                                                                               \
        }                                                                                                              \
        out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(sum);                                          \
    }
#if HAS_WGMMA || !defined(__CUDA_ARCH__)
WGMMA_KERNEL(wgmmaF16, float)
WGMMA_KERNEL(wgmmaBf16, float)
WGMMA_KERNEL(wgmmaTf32, float)
WGMMA_KERNEL(wgmmaFp8, float)
WGMMA_KERNEL(wgmmaInt8, int)
#else
__global__ void wgmmaF16(const std::uint32_t*, float*, int) {}
__global__ void wgmmaBf16(const std::uint32_t*, float*, int) {}
__global__ void wgmmaTf32(const std::uint32_t*, float*, int) {}
__global__ void wgmmaFp8(const std::uint32_t*, float*, int) {}
__global__ void wgmmaInt8(const std::uint32_t*, float*, int) {}
#endif

// --- measuring -------------------------------------------------------------------------------------------------------

/// Clock and reasons of a lower one, from NVML where it is; -1 without.
class Monitor
{
public:
    explicit Monitor(const std::string& uuid)
    {
        void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
        if (!library) {
            return;
        }
        const auto init = reinterpret_cast<int (*)()>(::dlsym(library, "nvmlInit_v2"));
        const auto find = reinterpret_cast<int (*)(const char*, void**)>(::dlsym(library, "nvmlDeviceGetHandleByUUID"));
        m_clock = reinterpret_cast<int (*)(void*, int, unsigned*)>(::dlsym(library, "nvmlDeviceGetClockInfo"));
        m_reasons = reinterpret_cast<int (*)(void*, unsigned long long*)>(
            ::dlsym(library, "nvmlDeviceGetCurrentClocksEventReasons"));
        if (!init || !find || init() != 0 || find(uuid.c_str(), &m_device) != 0) {
            m_device = nullptr;
        }
    }
    int smMhz() const
    {
        unsigned mhz = 0;
        return m_device && m_clock && m_clock(m_device, 1, &mhz) == 0 ? static_cast<int>(mhz) : -1;
    }
    long long reasons() const
    {
        unsigned long long bits = 0;
        return m_device && m_reasons && m_reasons(m_device, &bits) == 0 ? static_cast<long long>(bits) : -1;
    }

private:
    void* m_device = nullptr;
    int (*m_clock)(void*, int, unsigned*) = nullptr;
    int (*m_reasons)(void*, unsigned long long*) = nullptr;
};

struct Measured {
    double seconds = 0; ///< median of one launch
    int smMhz = -1;
    long long throttle = -1;
};

/// Median of at least seven launches, after as many as a device needs to leave its idle clock; the clock is read while
/// the last one runs.
Measured measure(const Monitor& monitor, const std::function<void()>& launch)
{
    constexpr double warmMilliseconds = 15, timedMilliseconds = 15; // longer, and the power limit lowers the clock
    constexpr std::size_t fewest = 7, most = 2000;
    double warm = 0, spent = 0;
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    std::vector<float> milliseconds;
    Measured result;
    while (milliseconds.size() < most && (milliseconds.size() < fewest || spent < timedMilliseconds)) {
        check(cudaEventRecord(begin), "cudaEventRecord");
        launch();
        check(cudaEventRecord(end), "cudaEventRecord");
        result.smMhz = monitor.smMhz();
        result.throttle = monitor.reasons();
        check(cudaEventSynchronize(end), "a micro-benchmark");
        float one = 0;
        check(cudaEventElapsedTime(&one, begin, end), "cudaEventElapsedTime");
        if (warm < warmMilliseconds) {
            warm += one;
        } else {
            spent += one;
            milliseconds.push_back(one);
        }
    }
    check(cudaGetLastError(), "a micro-benchmark");
    std::sort(milliseconds.begin(), milliseconds.end());
    result.seconds = milliseconds[milliseconds.size() / 2] / 1000.0;
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return result;
}

class Report
{
public:
    void add(const char* id, const char* unit, double amount, double theory, const char* how, const Measured& measured)
    {
        std::printf("%s\n  {\"id\": \"%s\", \"unit\": \"%s\", \"measured\": %.6g, \"theory\": %.6g, \"sm_mhz\": %d, "
                    "\"throttle\": %lld, "
                    "\"how\": \"%s\"}",
                    m_first ? "" : ",", id, unit, amount / measured.seconds / 1e9, theory, measured.smMhz,
                    measured.throttle, how);
        m_first = false;
    }

private:
    bool m_first = true;
};

/// Operations of one clock of one multiprocessor, by compute capability; 0: not known here, and then no theory.
struct Rates {
    int capability;
    double f32, f64, f16, tensorF16, tensorTf32, tensorF64, tensorFp8, tensorInt8;
};
constexpr Rates rateTable[] = {
    {75, 128, 4, 256, 1024, 0, 0, 0, 2048},
    {80, 128, 64, 512, 2048, 1024, 128, 0, 4096},
    {86, 256, 4, 256, 1024, 256, 0, 0, 2048},
    {87, 256, 4, 256, 1024, 256, 0, 0, 2048},
    {89, 256, 4, 256, 1024, 256, 0, 2048, 2048},
    {90, 256, 128, 512, 4096, 2048, 256, 8192, 8192},
    {100, 256, 128, 512, 8192, 4096, 128, 16384, 16384},
    {120, 256, 4, 256, 2048, 512, 0, 4096, 4096},
};

} // namespace

int main()
{
    check(cudaSetDevice(0), "cudaSetDevice");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    int driver = 0, runtime = 0, clockKhz = 0, memoryKhz = 0, busBits = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    cudaDeviceGetAttribute(&clockKhz, cudaDevAttrClockRate, 0);
    cudaDeviceGetAttribute(&memoryKhz, cudaDevAttrMemoryClockRate, 0);
    cudaDeviceGetAttribute(&busBits, cudaDevAttrGlobalMemoryBusWidth, 0);
    char uuid[64];
    const auto* u = reinterpret_cast<const unsigned char*>(properties.uuid.bytes);
    std::snprintf(uuid, sizeof uuid, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
                  u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    const Monitor monitor(uuid);
    const int sms = properties.multiProcessorCount;
    const double clocks = sms * clockKhz * 1e3 / 1e9; // of all multiprocessors, in thousands of millions a second
    const int capability = properties.major * 10 + properties.minor;
    Rates rates{};
    for (const Rates& row : rateTable) {
        rates = row.capability == capability ? row : rates;
    }
    const double dramTheory = 2.0 * memoryKhz * 1e3 * busBits / 8 / 1e9;
    std::printf("{\"device\": \"%s\", \"uuid\": \"%s\", \"driver\": %d, \"runtime\": %d, \"capability\": %d, "
                "\"multiprocessors\": %d, "
                "\"clock_mhz\": %d, \"memory_mhz\": %d, \"l2_bytes\": %d, \"roofs\": [",
                properties.name, uuid, driver, runtime, capability, sms, clockKhz / 1000, memoryKhz / 1000,
                properties.l2CacheSize);

    constexpr std::size_t large = std::size_t{1} << 30;
    std::uint32_t *a = nullptr, *b = nullptr;
    check(cudaMalloc(&a, large), "cudaMalloc");
    check(cudaMalloc(&b, large), "cudaMalloc");
    fillNoise<<<sms * 8, 256>>>(a, large / 4, ~0U, 0);
    fillNoise<<<sms * 8, 256>>>(b, large / 4, ~0U, 0);
    auto* sink = b;
    Report report;
    const auto* words = reinterpret_cast<const uint4*>(a);
    const auto bytes = static_cast<double>(large);
    report.add("dram", "GB/s", bytes, dramTheory, "read of 1 GiB",
               measure(monitor, [&] { readMemory<<<sms * 8, 512>>>(words, large / 16, sink); }));
    report.add("dram_copy", "GB/s", 2 * bytes, dramTheory, "copy of 1 GiB",
               measure(monitor, [&] { copyMemory<<<sms * 8, 512>>>(words, reinterpret_cast<uint4*>(b), large / 16); }));
    report.add("dram_write", "GB/s", bytes, dramTheory, "memset of 1 GiB",
               measure(monitor, [&] { cudaMemsetAsync(b, 1, large); }));
    std::uint32_t l2Words = 1; // a power of two, at most three eighths of the cache: both halves may hold a copy
    while (l2Words * 2 * 16.0 <= properties.l2CacheSize * 3.0 / 8) {
        l2Words *= 2;
    }
    constexpr int l2Rounds = 400;
    report.add("l2", "GB/s", static_cast<double>(sms) * 2 * 1024 * l2Rounds * 8 * 16, 0,
               "reads that bypass the L1 cache",
               measure(monitor, [&] { readL2<<<sms * 2, 1024>>>(words, l2Words, l2Rounds, sink); }));
    constexpr int l1Rounds = 4000;
    report.add("l1", "GB/s", static_cast<double>(sms) * 1024 * l1Rounds * 8 * 16, 128 * clocks,
               "reads of 32 KiB a multiprocessor",
               measure(monitor, [&] { readL1<<<sms, 1024>>>(words, l1Rounds, sink); }));

    constexpr int rounds = 20000;
    const double threads = static_cast<double>(sms) * 4 * 512;
    report.add(
        "f32", "GFLOP/s", threads * rounds * 8 * 2, rates.f32 * clocks, "independent fma chains",
        measure(monitor, [&] { multiplyAdd<<<sms * 4, 512>>>(reinterpret_cast<float*>(b), rounds, 0.999F, 0.01F); }));
    const int slow = rates.f64 > 0 && rates.f64 < 32 ? rounds / 20 : rounds;
    report.add(
        "f64", "GFLOP/s", threads * slow * 8 * 2, rates.f64 * clocks, "independent fma chains",
        measure(monitor, [&] { multiplyAdd<<<sms * 4, 512>>>(reinterpret_cast<double*>(b), slow, 0.999, 0.01); }));
    report.add("f16", "GFLOP/s", threads * rounds * 8 * 4, rates.f16 * clocks, "independent packed fma chains",
               measure(monitor, [&] {
                   multiplyAddHalf<<<sms * 4, 512>>>(reinterpret_cast<__half2*>(b), rounds,
                                                     __floats2half2_rn(0.99F, 0.98F), __floats2half2_rn(0.01F, 0.02F));
               }));

    // Numbers of moderate size in every format: exponents around one.
    auto* out = reinterpret_cast<float*>(b);
    const auto noise = [&](std::uint32_t mask, std::uint32_t bits) { fillNoise<<<64, 256>>>(a, 1 << 16, mask, bits); };
    const double warps = static_cast<double>(sms) * 4 * 256 / 32;
    const auto mma = [&](const char* id, double theory, double operations,
                         void (*kernel)(const std::uint32_t*, float*, int)) {
        report.add(id, "GFLOP/s", warps * rounds / 4 * 8 * operations, theory * clocks, "mma.sync",
                   measure(monitor, [&] { kernel<<<sms * 4, 256>>>(a, out, rounds / 4); }));
    };
    const bool wide = capability == 90;
    noise(0x83FF83FFU, 0x38003800U);
    mma(wide ? "mma_f16" : "tensor_f16", rates.tensorF16, mmaF16Operations, mmaF16);
    noise(0x807F807FU, 0x3F003F00U);
    mma(wide ? "mma_bf16" : "tensor_bf16", rates.tensorF16, mmaBf16Operations, mmaBf16);
    if (capability >= 80) {
        noise(0x807FFFFFU, 0x3F000000U);
        mma(wide ? "mma_tf32" : "tensor_tf32", rates.tensorTf32, mmaTf32Operations, mmaTf32);
    }
    noise(~0U, 0);
    mma(wide ? "mma_int8" : "tensor_int8", rates.tensorInt8, mmaInt8Operations, mmaInt8);
    if (rates.tensorF64 > 0) {
        report.add(
            "tensor_f64", "GFLOP/s", warps * rounds / 4 * 8 * 2.0 * 8 * 8 * 4, rates.tensorF64 * clocks, "mma.sync",
            measure(monitor, [&] { mmaF64<<<sms * 4, 256>>>(reinterpret_cast<double*>(b), rounds / 4, 0.5, 0.25); }));
    }
    if (wide) {
        const double groups = static_cast<double>(sms) * 2 * 2; // two blocks of two warp groups each
        constexpr int wideRounds = 4000;
        const auto wgmma = [&](const char* id, double theory, double k,
                               void (*kernel)(const std::uint32_t*, float*, int)) {
            report.add(id, "GFLOP/s", groups * wideRounds * 4 * 2.0 * 64 * 128 * k, theory * clocks, "wgmma",
                       measure(monitor, [&] { kernel<<<sms * 2, 256>>>(a, out, wideRounds); }));
        };
        noise(0x83FF83FFU, 0x38003800U);
        wgmma("tensor_f16", rates.tensorF16, 16, wgmmaF16);
        noise(0x807F807FU, 0x3F003F00U);
        wgmma("tensor_bf16", rates.tensorF16, 16, wgmmaBf16);
        noise(0x807FFFFFU, 0x3F000000U);
        wgmma("tensor_tf32", rates.tensorTf32, 8, wgmmaTf32);
        noise(0x87878787U, 0x30303030U);
        wgmma("tensor_fp8", rates.tensorFp8, 32, wgmmaFp8);
        noise(~0U, 0);
        wgmma("tensor_int8", rates.tensorInt8, 32, wgmmaInt8);
    }
    std::printf("]}\n");
    return 0;
}
