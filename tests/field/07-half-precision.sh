#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Half-precision functions of the toolkit's headers run on the simulated device.
. "$(dirname "$0")/lib.sh"

mkdir half_op
cat >half_op/task.json <<'T'
{"schema": 1, "id": "half_op", "title": "Half functions", "description": "y = sqrt(exp(x)) * log2(2 + x * x) in half precision",
 "parameters": ["n"],
 "arguments": [
  {"name": "x", "kind": "input", "dtype": "f16", "shape": ["n"], "values": {"distribution": "uniform", "low": -2, "high": 2}},
  {"name": "y", "kind": "output", "dtype": "f16", "shape": ["n"]},
  {"name": "n", "kind": "scalar", "dtype": "i64", "value": "n"}],
 "root": "root.cu", "oracle": {"kind": "cuda", "file": "oracle.cu"},
 "cases": [{"name": "1000", "parameters": {"n": 1000}, "roles": ["verify", "simulate"]}, {"name": "64k", "parameters": {"n": 65536}, "roles": ["time"]}],
 "contract": {"precision": "f16"}, "flops": "6 * n"}
T
cat >half_op/oracle.cu <<'O'
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
__global__ void ref(const __half* x, double* y, double* scale, int64_t first, int64_t count)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const double v = __half2float(x[first + i]);
    y[i] = sqrt(exp(v)) * log2(2 + v * v);
    scale[i] = fabs(y[i]) * 4;
}
extern "C" cudaError_t half_op_oracle(const __half* x, int64_t n, double* y, double* scale, int64_t first, int64_t count, cudaStream_t stream)
{
    ref<<<static_cast<unsigned>((count + 127) / 128), 128, 0, stream>>>(x, y, scale, first, count);
    return cudaGetLastError();
}
O
cat >half_op/root.cu <<'K'
#include <cstdint>
#include <cuda_fp16.h>
__global__ void mixed(const __half* x, __half* y, int64_t n)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hmul(hsqrt(hexp(x[i])), hlog2(__hfma(x[i], x[i], __float2half(2.0f))));
}
extern "C" cudaError_t half_op(const __half* x, __half* y, int64_t n, void*, size_t, cudaStream_t stream)
{
    mixed<<<static_cast<unsigned>((n + 127) / 128), 128, 0, stream>>>(x, y, n);
    return cudaGetLastError();
}
K
answers 0 'passed' "$ctl" eval half_op half_op/root.cu --device sim
cat >more.cu <<'K'
#include <cstdint>
#include <cuda_fp16.h>
// The same by other functions of the header: quotients, reciprocals, roots, pairs.
__global__ void pairs(const __half2* x, __half2* y, int64_t n)
{
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const __half2 two = __float2half2_rn(2.0f), root = h2rcp(h2rsqrt(h2exp(x[i])));
    const __half2 logarithm = __h2div(h2log(__hfma2(x[i], x[i], two)), __float2half2_rn(0.6931472f));
    y[i] = __hmul2(root, logarithm);
}
__global__ void rest(const __half* x, __half* y, int64_t i)
{
    y[i] = __hdiv(hsqrt(hexp2(__hmul(x[i], __float2half(1.442695f)))), hrcp(hlog2(__hfma(x[i], x[i], __float2half(2.0f)))));
}
extern "C" cudaError_t half_op(const __half* x, __half* y, int64_t n, void*, size_t, cudaStream_t stream)
{
    if (n > 1)
        pairs<<<static_cast<unsigned>((n / 2 + 127) / 128), 128, 0, stream>>>(reinterpret_cast<const __half2*>(x), reinterpret_cast<__half2*>(y), n / 2);
    if (n % 2)
        rest<<<1, 1, 0, stream>>>(x, y, n - 1);
    return cudaGetLastError();
}
K
answers 0 'passed' "$ctl" eval half_op more.cu --device sim
done_with
