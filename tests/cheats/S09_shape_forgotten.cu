// SPDX-License-Identifier: Apache-2.0
// cheat: S09 keeps the shape that the first call with these pointers had
// task: softmax_f32
// expect: incorrect
// evidence: never written|times the allowed error|not finite|norm
// device: sim cuda
// defence: V11 (another shape in the same places)
// @paste softmax

ENTRY
{
    static const float* in = nullptr;
    static float* out = nullptr;
    static int64_t kept[2] = {0, 0};
    if (x != in || y != out || rows * cols != kept[0] * kept[1]) {
        in = x;
        out = y;
        kept[0] = rows;
        kept[1] = cols;
    }
    return honest(x, y, kept[0], kept[1], stream);
}
