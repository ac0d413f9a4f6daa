// SPDX-License-Identifier: Apache-2.0
// cheat: M01 memo keyed on the input pointer
// task: softmax_f32
// expect: incorrect
// evidence: times the allowed error|previous
// device: sim cuda
// defence: V2 V4 V11
// @paste softmax

namespace {

__device__ float memo[16][32768];

} // namespace

ENTRY
{
    static const float* keys[16];
    static int64_t sizes[16];
    static int used = 0;
    const int64_t count = rows * cols;
    void* base = nullptr;
    cudaGetSymbolAddress(&base, memo);
    float* const store = static_cast<float*>(base);
    for (int i = 0; i < used; ++i)
        if (keys[i] == x && sizes[i] == count) {
            copyAll<<<32, 256, 0, stream>>>(store + i * 32768, y, count);
            return cudaGetLastError();
        }
    honest(x, y, rows, cols, stream);
    if (count <= 32768 && used < 16) {
        copyAll<<<32, 256, 0, stream>>>(y, store + used * 32768, count);
        keys[used] = x;
        sizes[used++] = count;
    }
    return cudaGetLastError();
}
