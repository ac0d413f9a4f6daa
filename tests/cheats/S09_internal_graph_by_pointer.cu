// SPDX-License-Identifier: Apache-2.0
// cheat: S09 replays a graph keyed on the input pointer alone
// task: softmax_f32
// expect: suspicious|incorrect|runtime_failed
// evidence: cudaGraph|cudaStreamBeginCapture|times the allowed error|never written
// device: sim cuda
// defence: V16 V11
// @paste softmax

ENTRY
{
    static const float* key = nullptr;
    static cudaGraphExec_t replay = nullptr;
    if (x != key) {
        cudaGraph_t graph;
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        honest(x, y, rows, cols, stream);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&replay, graph, 0);
        key = x;
    }
    return cudaGraphLaunch(replay, stream);
}
