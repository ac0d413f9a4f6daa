// SPDX-License-Identifier: Apache-2.0
// cheat: S12 clamps factors that random data never reaches
// task: matmul_f32
// expect: incorrect
// evidence: times the allowed error|norm
// device: sim cuda
// defence: V13 (scale 1e3, outliers)
// @paste matmul

namespace {

struct Clamp {
    __device__ float operator()(float v) const { return fminf(fmaxf(v, -8.0f), 8.0f); }
};

} // namespace

ENTRY
{
    return honest(a, b, c, m, n, k, stream, Clamp{});
}
