// SPDX-License-Identifier: Apache-2.0
// cheat: S09 replays a graph keyed on the input pointer alone
// task: softmax_f32
// expect: incorrect
// expect-sim: not_run
// evidence: never written|times the allowed error|not finite|norm
// evidence-sim: cudaStreamBeginCapture
// device: sim cuda
// defence: V11 (other outputs and shapes behind the same input)
// @paste softmax

ENTRY
{
    static const float* key = nullptr;
    static cudaGraphExec_t replay = nullptr;
    static cudaStream_t recorder = nullptr;
    if (x != key) {
        cudaGraph_t graph;
        if (recorder == nullptr)
            cudaStreamCreateWithFlags(&recorder, cudaStreamNonBlocking);
        cudaStreamBeginCapture(recorder, cudaStreamCaptureModeThreadLocal);
        honest(x, y, rows, cols, recorder);
        cudaStreamEndCapture(recorder, &graph);
        cudaGraphInstantiate(&replay, graph, 0);
        key = x;
    }
    return cudaGraphLaunch(replay, stream);
}
