// SPDX-License-Identifier: Apache-2.0
// honest: 1 fork and join over two streams
// task: softmax_f32
// expect: passed
// fast: yes
// device: sim cuda
// @paste softmax

ENTRY
{
    static cudaStream_t side = nullptr;
    static cudaEvent_t forked = nullptr, joined = nullptr;
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
    }
    const int64_t upper = rows / 2;
    cudaEventRecord(forked, stream);
    cudaStreamWaitEvent(side, forked, 0);
    if (upper > 0)
        honest(x, y, upper, cols, side);
    honest(x + upper * cols, y + upper * cols, rows - upper, cols, stream);
    cudaEventRecord(joined, side);
    return cudaStreamWaitEvent(stream, joined, 0);
}
