// SPDX-License-Identifier: Apache-2.0
// cheat: S09 writes where the first call with this input pointer wrote
// task: softmax_f32
// expect: incorrect
// evidence: never written|times the allowed error|not finite|norm
// device: sim cuda
// defence: V11 (same input, its output elsewhere)
// @paste softmax

ENTRY
{
    static const float* key = nullptr;
    static float* place = nullptr;
    static int64_t area = 0;
    if (x != key || rows * cols != area) {
        key = x;
        place = y;
        area = rows * cols;
    }
    return honest(x, place, rows, cols, stream);
}
