#include <cuda_runtime.h> // SPDX-License-Identifier: Apache-2.0
__device__ __forceinline__ float warpSum(float v)
{
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}
__device__ __forceinline__ float square(float v)
{
    return v * v;
}
__global__ void norm(const float* __restrict__ x, float* y, int n)
{
    float s = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        s += square(x[i]);
    s = warpSum(s);
    if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(s);
}
