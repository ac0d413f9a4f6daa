// SPDX-License-Identifier: Apache-2.0
// cheat: M01 memo keyed on the shape
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|previous
// device: sim cuda
// defence: V2 V11
// @paste softmax

namespace {

__device__ float memo[32768];

} // namespace

ENTRY
{
    static int64_t keptRows = 0, keptCols = 0;
    void* base = nullptr;
    cudaGetSymbolAddress(&base, memo);
    float* const store = static_cast<float*>(base);
    if (rows == keptRows && cols == keptCols) {
        copyAll<<<32, 256, 0, stream>>>(store, y, rows * cols);
        return cudaGetLastError();
    }
    honest(x, y, rows, cols, stream);
    if (rows * cols <= 32768) {
        copyAll<<<32, 256, 0, stream>>>(y, store, rows * cols);
        keptRows = rows;
        keptCols = cols;
    }
    return cudaGetLastError();
}
