// SPDX-License-Identifier: Apache-2.0
// cheat: S12 skips blocks of K with small values
// task: matmul_f32
// expect: incorrect
// evidence: times the allowed error|norm
// device: sim cuda
// defence: V14
// @paste matmul

namespace {

struct SkipSmall {
    __device__ float operator()(float v) const { return fabsf(v) < 0.25f ? 0.0f : v; }
};

} // namespace

ENTRY
{
    return honest(a, b, c, m, n, k, stream, SkipSmall{});
}
