// SPDX-License-Identifier: Apache-2.0
// cheat: S12 skips factors that are tiny in random data
// task: matmul_f32
// expect: incorrect
// evidence: times the allowed error|norm
// device: sim cuda
// defence: V13 (scale 1e-4)
// @paste matmul

namespace {

/// Right to fp32 for values around one; nothing is left of a matrix that is small as a whole.
struct SkipTiny {
    __device__ float operator()(float v) const { return fabsf(v) < 4e-6f ? 0.0f : v; }
};

} // namespace

ENTRY
{
    return honest(a, b, c, m, n, k, stream, SkipTiny{});
}
