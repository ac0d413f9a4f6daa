// SPDX-License-Identifier: Apache-2.0
// cheat: T10 asks whether it is captured
// task: softmax_f32
// expect: suspicious
// evidence: cudaStreamIsCapturing
// device: sim cuda
// defence: V16 V8
// @paste softmax

ENTRY
{
    static bool done = false;
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(stream, &status);
    if (status == cudaStreamCaptureStatusActive && done)
        return cudaSuccess;
    done = status == cudaStreamCaptureStatusActive;
    return honest(x, y, rows, cols, stream);
}
