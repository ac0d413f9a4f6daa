// SPDX-License-Identifier: Apache-2.0
// cheat: T01 unjoined side stream
// task: softmax_f32
// expect: suspicious
// expect-cuda: suspicious|incorrect
// evidence: outside the given stream
// evidence-cuda: join all of it to the stream|captured|a direct call was right|never written
// fast: yes
// device: sim cuda
// defence: V7 V8 V9 V10
// varies: when the other stream ends is the device's business
// @paste softmax

ENTRY
{
    static cudaStream_t side = nullptr;
    if (side == nullptr)
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    return honest(x, y, rows, cols, side);
}
