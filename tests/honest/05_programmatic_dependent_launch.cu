// SPDX-License-Identifier: Apache-2.0
// honest: 5 programmatic dependent launch between own kernels
// task: softmax_f32
// expect: passed
// device: cuda
// @paste softmax

namespace {

/// First half: the exponentials' sums go to the workspace; the second kernel starts before this one has ended.
__global__ void sums(const float* x, float2* of, int64_t cols)
{
    __shared__ float partial[kThreads];
    const float* in = x + blockIdx.x * cols;
    const int t = threadIdx.x;
    float largest = -INFINITY;
    for (int64_t c = t; c < cols; c += kThreads)
        largest = fmaxf(largest, in[c]);
    partial[t] = largest;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half)
            partial[t] = fmaxf(partial[t], partial[t + half]);
        __syncthreads();
    }
    largest = partial[0];
    __syncthreads();
    float sum = 0.0f;
    for (int64_t c = t; c < cols; c += kThreads)
        sum += expf(in[c] - largest);
    partial[t] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half)
            partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t == 0)
        of[blockIdx.x] = make_float2(largest, 1.0f / partial[0]);
    asm volatile("griddepcontrol.launch_dependents;");
}

__global__ void apply(const float* x, float* y, const float2* of, int64_t cols)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    const float2 s = of[blockIdx.x];
    for (int64_t c = threadIdx.x; c < cols; c += kThreads)
        y[blockIdx.x * cols + c] = expf(x[blockIdx.x * cols + c] - s.x) * s.y;
}

} // namespace

extern "C" size_t softmax_f32_workspace(int64_t rows, int64_t cols)
{
    return rows * sizeof(float2);
}

ENTRY
{
    float2* const of = static_cast<float2*>(workspace);
    sums<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, of, cols);
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = dim3(static_cast<unsigned>(rows));
    configuration.blockDim = dim3(kThreads);
    configuration.stream = stream;
    configuration.attrs = &early;
    configuration.numAttrs = 1;
    return cudaLaunchKernelEx(&configuration, apply, x, y, static_cast<const float2*>(of), cols);
}
