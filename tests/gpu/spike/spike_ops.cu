// SPDX-License-Identifier: Apache-2.0
// The judge's operations in the spike, compiled to PTX: draw inputs, regenerate and compare, check outputs.
using u64 = unsigned long long;

__device__ float element(u64 seed, u64 index)
{
    u64 h = seed + index * 0x9E3779B97F4A7C15ull;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ull;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBull;
    return float((h >> 40) & 0xffff);
}

extern "C" __global__ void fill(float* p, u64 n, u64 seed)
{
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += u64(gridDim.x) * blockDim.x) {
        p[i] = element(seed, i);
    }
}

// mode 0: the input itself; mode 1: what spike_stream makes of it
extern "C" __global__ void check(const float* p, u64 n, u64 seed, int mode, u64* mismatches)
{
    u64 bad = 0;
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += u64(gridDim.x) * blockDim.x) {
        const float x = element(seed, i);
        bad += p[i] != (mode ? 2 * x + 1 : x);
    }
    if (bad) {
        atomicAdd(mismatches, bad);
    }
}
