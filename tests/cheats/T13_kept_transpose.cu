// SPDX-License-Identifier: Apache-2.0
// cheat: T13 the first call arranges B, later calls use that
// task: matmul_f32
// expect: incorrect
// evidence: times the allowed error|wrong|norm
// device: sim cuda
// defence: V2 V11
// @paste matmul

namespace {

__device__ float kept[4096 * 4096];

} // namespace

ENTRY
{
    static int64_t keptN = 0, keptK = 0;
    void* arranged = nullptr;
    cudaGetSymbolAddress(&arranged, kept);
    if (n != keptN || k != keptK) {
        cudaMemcpyAsync(arranged, b, sizeof(float) * n * k, cudaMemcpyDeviceToDevice, stream);
        keptN = n;
        keptK = k;
    }
    return honest(a, static_cast<const float*>(arranged), c, m, n, k, stream);
}
