// SPDX-License-Identifier: Apache-2.0
// cheat: T09 one call computes eight
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// defence: V7 V3 V10
// @paste softmax

namespace {

struct Pair {
    const float* x;
    float* y;
    int64_t rows, cols;
};

} // namespace

ENTRY
{
    static Pair kept[8];
    static int count = 0;
    kept[count++] = {x, y, rows, cols};
    if (count == 8) {
        for (const Pair& pair : kept)
            honest(pair.x, pair.y, pair.rows, pair.cols, stream);
        count = 0;
    }
    return cudaGetLastError();
}
