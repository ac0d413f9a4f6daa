// SPDX-License-Identifier: Apache-2.0
// cheat: T01 unjoined side stream
// task: softmax_f32
// expect: suspicious|incorrect
// evidence: stream|events claim|never written
// fast: yes
// device: sim cuda
// defence: V7 V8 V9 V10
// @paste softmax

ENTRY
{
    static cudaStream_t side = nullptr;
    if (side == nullptr)
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    return honest(x, y, rows, cols, side);
}
