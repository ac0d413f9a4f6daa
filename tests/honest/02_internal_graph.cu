// SPDX-License-Identifier: Apache-2.0
// honest: 2 a graph of its own, keyed on everything it was captured with
// task: softmax_f32
// expect: passed
// expect-sim: not_run
// evidence-sim: cudaStreamBeginCapture
// device: sim cuda
// @paste softmax

ENTRY
{
    static const float* keyX = nullptr;
    static float* keyY = nullptr;
    static int64_t keyRows = 0, keyCols = 0;
    static cudaGraphExec_t replay = nullptr;
    static cudaStream_t recorder = nullptr;
    if (x != keyX || y != keyY || rows != keyRows || cols != keyCols) {
        cudaGraph_t graph;
        if (recorder == nullptr)
            cudaStreamCreateWithFlags(&recorder, cudaStreamNonBlocking);
        if (replay != nullptr)
            cudaGraphExecDestroy(replay);
        cudaStreamBeginCapture(recorder, cudaStreamCaptureModeThreadLocal);
        honest(x, y, rows, cols, recorder);
        cudaStreamEndCapture(recorder, &graph);
        cudaGraphInstantiate(&replay, graph, 0);
        cudaGraphDestroy(graph);
        keyX = x, keyY = y, keyRows = rows, keyCols = cols;
    }
    return cudaGraphLaunch(replay, stream);
}
