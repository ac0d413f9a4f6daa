// SPDX-License-Identifier: Apache-2.0
// cheat: H16 T01 with names put together from tokens
// task: softmax_f32
// expect: suspicious
// expect-cuda: suspicious|incorrect
// evidence: outside the given stream
// evidence-cuda: join all of it to the stream|captured|a direct call was right|never written
// device: sim cuda
// defence: V7 V8 V10
// varies: when the other stream ends is the device's business
// @paste softmax

#define JOIN(a, b) a##b

ENTRY
{
    static cudaStream_t side = nullptr;
    if (side == nullptr)
        JOIN(cudaStream, CreateWithFlags)(&side, JOIN(cudaStream, NonBlocking));
    return honest(x, y, rows, cols, side);
}
