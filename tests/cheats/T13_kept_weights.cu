// SPDX-License-Identifier: Apache-2.0
// cheat: T13 weight and bias of the first call are used for ever
// task: layernorm_f32
// expect: incorrect
// evidence: times the allowed error|wrong|norm
// device: sim cuda
// defence: V2 V11
// @paste layernorm

namespace {

__device__ float keptWeight[1 << 22], keptBias[1 << 22];

} // namespace

ENTRY
{
    static int64_t keptCols = 0;
    void *w = nullptr, *b = nullptr;
    cudaGetSymbolAddress(&w, keptWeight);
    cudaGetSymbolAddress(&b, keptBias);
    if (cols != keptCols) {
        cudaMemcpyAsync(w, weight, sizeof(float) * cols, cudaMemcpyDeviceToDevice, stream);
        cudaMemcpyAsync(b, bias, sizeof(float) * cols, cudaMemcpyDeviceToDevice, stream);
        keptCols = cols;
    }
    return honest(x, static_cast<const float*>(w), static_cast<const float*>(b), y, rows, cols, eps, stream);
}
