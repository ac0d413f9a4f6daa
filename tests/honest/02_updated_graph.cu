// SPDX-License-Identifier: Apache-2.0
// honest: 2 a graph of its own, updated to each call's arguments
// task: softmax_f32
// expect: passed
// expect-sim: not_run
// evidence-sim: cudaStreamBeginCapture
// device: sim cuda
// @paste softmax

ENTRY
{
    static cudaGraphExec_t replay = nullptr;
    static cudaStream_t recorder = nullptr;
    cudaGraph_t graph;
    if (recorder == nullptr)
        cudaStreamCreateWithFlags(&recorder, cudaStreamNonBlocking);
    cudaStreamBeginCapture(recorder, cudaStreamCaptureModeThreadLocal);
    honest(x, y, rows, cols, recorder);
    cudaStreamEndCapture(recorder, &graph);
    cudaGraphExecUpdateResultInfo told;
    if (replay == nullptr || cudaGraphExecUpdate(replay, graph, &told) != cudaSuccess) {
        cudaGetLastError();
        if (replay != nullptr)
            cudaGraphExecDestroy(replay);
        cudaGraphInstantiate(&replay, graph, 0);
    }
    cudaGraphDestroy(graph);
    return cudaGraphLaunch(replay, stream);
}
