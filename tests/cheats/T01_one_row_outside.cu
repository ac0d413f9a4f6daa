// SPDX-License-Identifier: Apache-2.0
// cheat: T01 only the last row runs outside the given stream
// task: softmax_f32
// expect: suspicious
// expect-cuda: suspicious|incorrect
// evidence: outside the given stream
// evidence-cuda: join all of it to the stream|captured|a direct call was right|never written
// device: sim cuda
// defence: V7 V8 V10
// varies: when the other stream ends is the device's business
// @paste softmax

ENTRY
{
    static cudaStream_t side = nullptr;
    if (side == nullptr)
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    if (rows > 1)
        honest(x, y, rows - 1, cols, stream);
    return honest(x + (rows - 1) * cols, y + (rows - 1) * cols, 1, cols, side);
}
