// SPDX-License-Identifier: Apache-2.0
// The stand-in driver's streams, graphs and events. A candidate's "kernel" is a host function: a captured call is the
// list of them, and events read the clock that they move.
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_driver.h"

#include <utility>
#include <vector>

namespace {

/// A candidate's "kernel".
struct HostWork {
    CUhostFn function = nullptr;
    void* data = nullptr;
};
using HostGraph = std::vector<HostWork>;

struct Stream {
    bool capturing = false;
    HostGraph captured;
};

HostGraph& foreignWork()
{
    static HostGraph work;
    return work;
}

/// Five microseconds, and a little more or less: two blocks are never quite the same on a device either.
void run(const HostWork& work)
{
    static std::uint64_t count = 0;
    fakeWork(4950 + 10 * (++count * 7 % 11));
    work.function(work.data);
}

void runAll(const HostGraph& graph)
{
    for (const HostWork& work : graph) {
        run(work);
    }
}

} // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned)
{
    *stream = reinterpret_cast<CUstream>(new Stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
    delete reinterpret_cast<Stream*>(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream)
{
    if (const CUresult injected = injectedFault("cuStreamSynchronize"); injected != CUDA_SUCCESS) {
        return injected;
    }
    runAll(std::exchange(foreignWork(), {}));
    return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data)
{
    auto* stream = reinterpret_cast<Stream*>(handle);
    if (!stream) {
        foreignWork().push_back({function, data});
    } else if (stream->capturing) {
        stream->captured.push_back({function, data});
    } else {
        run({function, data});
    }
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode)
{
    *reinterpret_cast<Stream*>(stream) = {true, {}};
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph)
{
    auto& captured = *reinterpret_cast<Stream*>(stream);
    captured.capturing = false;
    *graph = reinterpret_cast<CUgraph>(new HostGraph(std::exchange(captured.captured, {})));
    return CUDA_SUCCESS;
}

/// The graph under capture stands for its last node, too: what is added comes after everything.
CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                const CUgraphNode** before, const CUgraphEdgeData** edges, std::size_t* count)
{
    auto* stream = reinterpret_cast<Stream*>(handle);
    *status = stream && stream->capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    *id = 1;
    *graph = stream ? reinterpret_cast<CUgraph>(&stream->captured) : nullptr;
    *before = nullptr;
    *edges = nullptr;
    *count = 0;
    return CUDA_SUCCESS;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream, CUgraphNode*, const CUgraphEdgeData*, std::size_t, unsigned)
{
    return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* copy, CUgraph graph)
{
    *copy = reinterpret_cast<CUgraph>(new HostGraph(*reinterpret_cast<HostGraph*>(graph)));
    return CUDA_SUCCESS;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode*, CUgraph graph, const CUgraphNode*, std::size_t, CUgraph child)
{
    auto& parent = *reinterpret_cast<HostGraph*>(graph);
    const auto& added = *reinterpret_cast<HostGraph*>(child);
    parent.insert(parent.end(), added.begin(), added.end());
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count)
{
    const auto& work = *reinterpret_cast<HostGraph*>(graph);
    *count = work.size();
    for (std::size_t i = 0; nodes && i < work.size(); ++i) {
        nodes[i] = asHandle<CUgraphNode>(&work[i]);
    }
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode, CUgraphNodeType* type)
{
    *type = CU_GRAPH_NODE_TYPE_KERNEL;
    return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode, CUgraph*)
{
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long)
{
    *executable = reinterpret_cast<CUgraphExec>(new HostGraph(*reinterpret_cast<HostGraph*>(graph)));
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo*)
{
    *reinterpret_cast<HostGraph*>(executable) = *reinterpret_cast<HostGraph*>(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream)
{
    if (stream && reinterpret_cast<Stream*>(stream)->capturing) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    runAll(*reinterpret_cast<HostGraph*>(executable));
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec executable)
{
    delete reinterpret_cast<HostGraph*>(executable);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    delete reinterpret_cast<HostGraph*>(graph);
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned)
{
    *event = reinterpret_cast<CUevent>(new std::uint64_t(fakeNow()));
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
    delete reinterpret_cast<std::uint64_t*>(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream)
{
    *reinterpret_cast<std::uint64_t*>(event) = fakeNow();
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end)
{
    *milliseconds =
        static_cast<float>(*reinterpret_cast<std::uint64_t*>(end) - *reinterpret_cast<std::uint64_t*>(start)) / 1e6F;
    return CUDA_SUCCESS;
}

} // extern "C"
