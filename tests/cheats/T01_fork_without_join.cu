// SPDX-License-Identifier: Apache-2.0
// cheat: T01 forked by an event, never joined
// task: softmax_f32
// expect: suspicious
// expect-cuda: suspicious|incorrect
// evidence: outside the given stream
// evidence-cuda: join all of it to the stream|captured|a direct call was right|never written
// device: sim cuda
// defence: V7 V8
// varies: when the other stream ends is the device's business
// @paste softmax

ENTRY
{
    static cudaStream_t side = nullptr;
    static cudaEvent_t forked = nullptr;
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
    }
    cudaEventRecord(forked, stream);
    cudaStreamWaitEvent(side, forked, 0);
    return honest(x, y, rows, cols, side);
}
