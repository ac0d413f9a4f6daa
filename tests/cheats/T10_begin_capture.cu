// SPDX-License-Identifier: Apache-2.0
// cheat: T10 tries to capture the given stream: that fails where the judge captures it
// task: softmax_f32
// expect: incorrect
// evidence: never written
// device: sim cuda
// defence: entry-point gate
// @paste softmax

// Pays only when the attempt tells a captured call from another.
ENTRY
{
    const bool free = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess;
    cudaGetLastError();
    cudaGraph_t graph = nullptr;
    if (!free)
        return cudaSuccess;
    cudaStreamEndCapture(stream, &graph);
    return honest(x, y, rows, cols, stream);
}
