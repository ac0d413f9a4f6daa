// SPDX-License-Identifier: Apache-2.0
// For line_table_test: what is inlined where. The marks are looked up by the test.
__device__ __forceinline__ float inner(float a)
{
    return a * a + 1.0f; // inner
}

__device__ __forceinline__ float outer(float a)
{
    const float b = inner(a); // outer
    return b + 3.0f;
}

extern "C" __global__ void first(const float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = outer(x[i]); // first
}

extern "C" __global__ void second(float* y)
{
    y[threadIdx.x] = 7.0f; // second
}
