// SPDX-License-Identifier: Apache-2.0
// Device side of task_kernels_check.py: inputs, poison, guard bands, comparison. Built as a shared library and called
// through ctypes. Every function is synchronous on the default stream.
#include <cfloat>
#include <cmath>
#include <cstdint>

// In no anonymous namespace: a function that takes it would not be exported.
struct Comparison {
    double worst; // |out - ref| in units of u * scale
    double error2, reference2;
    unsigned long long failed, nonFinite, firstFailed;
};

namespace {

__host__ __device__ uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

enum Distribution { kNormal, kUniform, kConstant, kHeavyTail, kIntegers };

__global__ void fillKernel(float* p, int64_t n, uint64_t seed, int distribution, double a, double b)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const uint64_t bits = mix(seed * 0x2545f4914f6cdd1dull + i);
        const float u1 = ((bits >> 40) + 0.5f) * 0x1p-24f;
        const float u2 = (bits & 0xffffff) * 0x1p-24f;
        const float normal = sqrtf(-2.0f * logf(u1)) * cospif(2.0f * u2);
        float v = 0.0f;
        if (distribution == kNormal)
            v = static_cast<float>(a) + static_cast<float>(b) * normal;
        else if (distribution == kUniform)
            v = static_cast<float>(a) + static_cast<float>(b - a) * u2;
        else if (distribution == kConstant)
            v = static_cast<float>(a);
        else if (distribution == kHeavyTail)
            v = static_cast<float>(a) * normal * exp2f(floorf(mix(bits) % 1024 / 1024.0f * (2 * b + 1)) - b);
        else
            v = static_cast<float>(floor(a + u2 * (b - a + 1)));
        p[i] = v;
    }
}

__global__ void poisonKernel(uint32_t* p, int64_t n, uint32_t seed)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        p[i] = seed % 2 ? 0x7fc00000u | (mix(seed + i) & 0x3fffffu) : 0x3f000000u | (mix(seed + i) & 0x807fffffu);
}

__global__ void differenceKernel(const uint8_t* a, const uint8_t* b, int64_t n, unsigned long long* count)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    unsigned long long own = 0;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        own += a[i] != b[i];
    if (own)
        atomicAdd(count, own);
}

__global__ void hashKernel(const uint32_t* p, int64_t n, unsigned long long* hash)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    unsigned long long own = 0;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
        own += mix(p[i] ^ (static_cast<uint64_t>(i) << 32));
    atomicAdd(hash, own);
}

__device__ void atomicMax(double* p, double v)
{
    // Values are never negative, so their bit patterns are ordered as they are.
    ::atomicMax(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(__double_as_longlong(v)));
}

__global__ void compareKernel(const float* out, const double* ref, const double* scale, int64_t n, double u,
                              double factor, Comparison* result)
{
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    double worst = 0, error2 = 0, reference2 = 0;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        const double o = out[i], r = ref[i];
        if (!isfinite(o)) {
            ::atomicAdd(&result->nonFinite, 1ull);
            ::atomicMin(&result->firstFailed, static_cast<unsigned long long>(i));
            continue;
        }
        const double e = fabs(o - r);
        error2 += e * e;
        reference2 += r * r;
        const bool tiny = fabs(r) < FLT_MIN;
        const bool bad = tiny ? e > FLT_MIN : e > factor * u * scale[i];
        if (!tiny)
            worst = fmax(worst, e / (u * scale[i]));
        if (bad) {
            ::atomicAdd(&result->failed, 1ull);
            ::atomicMin(&result->firstFailed, static_cast<unsigned long long>(i));
        }
    }
    atomicMax(&result->worst, worst);
    ::atomicAdd(&result->error2, error2);
    ::atomicAdd(&result->reference2, reference2);
}

constexpr int kGrid = 132 * 16;
constexpr int kBlock = 256;

template <class T>
int finish(T* device, T* host)
{
    const cudaError_t error = cudaMemcpy(host, device, sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(device);
    return error;
}

} // namespace

extern "C" {

int check_fill(float* p, int64_t n, uint64_t seed, int distribution, double a, double b)
{
    fillKernel<<<kGrid, kBlock>>>(p, n, seed, distribution, a, b);
    return cudaDeviceSynchronize();
}

int check_poison(void* p, int64_t bytes, uint32_t seed)
{
    poisonKernel<<<kGrid, kBlock>>>(static_cast<uint32_t*>(p), bytes / 4, seed);
    return cudaDeviceSynchronize();
}

int check_differences(const void* a, const void* b, int64_t bytes, unsigned long long* count)
{
    unsigned long long* device = nullptr;
    if (const cudaError_t error = cudaMalloc(&device, sizeof *device))
        return error;
    cudaMemset(device, 0, sizeof *device);
    differenceKernel<<<kGrid, kBlock>>>(static_cast<const uint8_t*>(a), static_cast<const uint8_t*>(b), bytes, device);
    return finish(device, count);
}

int check_hash(const void* p, int64_t bytes, unsigned long long* hash)
{
    unsigned long long* device = nullptr;
    if (const cudaError_t error = cudaMalloc(&device, sizeof *device))
        return error;
    cudaMemset(device, 0, sizeof *device);
    hashKernel<<<kGrid, kBlock>>>(static_cast<const uint32_t*>(p), bytes / 4, device);
    return finish(device, hash);
}

int check_compare(const float* out, const double* ref, const double* scale, int64_t n, double u, double factor,
                  Comparison* result)
{
    Comparison* device = nullptr;
    if (const cudaError_t error = cudaMalloc(&device, sizeof *device))
        return error;
    Comparison start{};
    start.firstFailed = ~0ull;
    cudaMemcpy(device, &start, sizeof start, cudaMemcpyHostToDevice);
    compareKernel<<<kGrid, kBlock>>>(out, ref, scale, n, u, factor, device);
    return finish(device, result);
}

} // extern "C"
