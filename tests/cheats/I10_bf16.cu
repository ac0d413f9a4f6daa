// SPDX-License-Identifier: Apache-2.0
// cheat: I10 bf16 factors under an fp32 contract
// task: matmul_f32
// expect: incorrect
// evidence: times the allowed error|norm
// device: sim cuda
// defence: V14
// @paste matmul

namespace {

struct Cut {
    __device__ float operator()(float v) const { return __uint_as_float((__float_as_uint(v) + 0x8000u) & 0xffff0000u); }
};

} // namespace

ENTRY
{
    return honest(a, b, c, m, n, k, stream, Cut{});
}
