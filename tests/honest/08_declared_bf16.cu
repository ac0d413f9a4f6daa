// SPDX-License-Identifier: Apache-2.0
// honest: 8 bf16 factors where the contract declares bf16
// task: tasks/matmul_bf16
// expect: passed
// device: sim cuda
// note: matmul_bf16 takes the entry of matmul_f32 and differs in its contract alone
// @paste matmul

#include <cuda_bf16.h>

namespace {

struct Bf16 {
    __device__ float operator()(float v) const { return __bfloat162float(__float2bfloat16(v)); }
};

} // namespace

ENTRY
{
    return honest(a, b, c, m, n, k, stream, Bf16{});
}
