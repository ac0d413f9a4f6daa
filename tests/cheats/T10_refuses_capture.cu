// SPDX-License-Identifier: Apache-2.0
// cheat: T10 finds out that it is captured and answers as if a call could not be
// task: softmax_f32
// expect: suspicious
// evidence: the call returned CUDA error 900
// device: cuda
// defence: V8 (an error under capture is never waived)
// @paste softmax

// A stream that waits for an event of a captured stream is captured, too, and begins no capture of its own.
ENTRY
{
    static cudaStream_t side = nullptr;
    static cudaEvent_t fork = nullptr;
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    }
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(side, fork, 0);
    if (cudaStreamBeginCapture(side, cudaStreamCaptureModeRelaxed) != cudaSuccess)
        return cudaErrorStreamCaptureUnsupported;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(side, &graph);
    return honest(x, y, rows, cols, stream);
}
