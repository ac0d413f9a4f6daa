// SPDX-License-Identifier: Apache-2.0
#include "core/runner/graph_gate.h"

#include "core/runner/runtime_function.h"

#include <cstddef>
#include <map>
#include <optional>
#include <type_traits>

namespace {

using espalier::runner::ask;
using espalier::runner::success;

/// The runtime's own, its handles and structures as plain pointers.
struct Runtime {
    int (*instantiate)(void** executable, void* graph, unsigned long long flags) = nullptr;
    int (*update)(void* executable, void* graph, void* result) = nullptr;
    int (*setKernel)(void* executable, void* node, const void* parameters) = nullptr;
    int (*setMemset)(void* executable, void* node, const void* parameters) = nullptr;
    int (*setCopy)(void* executable, void* node, void* to, const void* from, std::size_t bytes, int kind) = nullptr;
    int (*destroyExecutable)(void* executable) = nullptr;
    int (*upload)(void* executable, void* stream) = nullptr;
    int (*launch)(void* executable, void* stream) = nullptr;

    int (*clone)(void** copy, void* graph) = nullptr;
    int (*destroy)(void* graph) = nullptr;
    int (*findInClone)(void** found, void* node, void* copy) = nullptr;
    int (*setKernelOfGraph)(void* node, const void* parameters) = nullptr;
    int (*setMemsetOfGraph)(void* node, const void* parameters) = nullptr;
    int (*setCopyOfGraph)(void* node, void* to, const void* from, std::size_t bytes, int kind) = nullptr;
    int (*captureInfo)(void* stream, int* status, unsigned long long* id, void** graph, void* const** before,
                       const void** edges, std::size_t* count) = nullptr;
    int (*addChild)(void** node, void* graph, void* const* before, std::size_t count, void* child) = nullptr;
    int (*setDependencies)(void* stream, void** nodes, const void* edges, std::size_t count, unsigned flags) = nullptr;
};

constexpr int invalidValue = 1;    // cudaErrorInvalidValue
constexpr int captureActive = 1;   // cudaStreamCaptureStatusActive
constexpr unsigned replaceAll = 1; // cudaStreamSetCaptureDependencies

Runtime real;
bool passThrough = false;
std::map<void*, void*> copies; ///< of the graph that an executable runs

void keep(void* executable, void* copy)
{
    const auto [at, fresh] = copies.try_emplace(executable, copy);
    if (!fresh) {
        ask(real.destroy, at->second);
        at->second = copy;
    }
}

/// The same change to the executable and, through `change`, to its copy's node.
template <typename Change, typename... Arguments>
int setNode(int (*set)(void*, void*, Arguments...), Change change, void* executable, void* node,
            std::type_identity_t<Arguments>... arguments)
{
    if (passThrough) {
        return ask(set, executable, node, arguments...);
    }
    const auto copy = copies.find(executable);
    void* twin = nullptr;
    int status = copy == copies.end() ? invalidValue : ask(real.findInClone, &twin, node, copy->second);
    status = status ? status : ask(set, executable, node, arguments...);
    return status ? status : ask(change, twin, arguments...);
}

struct Capture {
    void* graph = nullptr;
    void* const* before = nullptr; ///< what the stream's next work comes after
    std::size_t count = 0;
};

std::optional<Capture> captureOf(void* stream)
{
    Capture capture;
    int status = 0;
    unsigned long long id = 0;
    const void* edges = nullptr; // of programmatic launches: a child graph waits for the whole kernel instead
    const bool active = ask(real.captureInfo, stream, &status, &id, &capture.graph, &capture.before, &edges,
                            &capture.count) == success &&
                        status == captureActive;
    return active ? std::optional(capture) : std::nullopt;
}

/// Makes or updates the executable with `make`, and keeps a copy of the graph if that works.
template <typename Make>
int withCopy(void* const& executable, void* graph, Make make)
{
    void* copy = nullptr;
    int status = passThrough ? success : ask(real.clone, &copy, graph);
    status = status ? status : make();
    if (copy && status) {
        ask(real.destroy, copy);
    } else if (copy) {
        keep(executable, copy);
    }
    return status;
}

int instantiate(void** executable, void* graph, unsigned long long flags)
{
    return withCopy(*executable, graph, [&] { return ask(real.instantiate, executable, graph, flags); });
}

} // namespace

ESPALIER_EXPORTED int cudaGraphInstantiate(void** executable, void* graph, unsigned long long flags)
{
    return instantiate(executable, graph, flags);
}

ESPALIER_EXPORTED int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags)
{
    return instantiate(executable, graph, flags);
}

ESPALIER_EXPORTED int cudaGraphExecUpdate(void* executable, void* graph, void* result)
{
    return withCopy(executable, graph, [&] { return ask(real.update, executable, graph, result); });
}

ESPALIER_EXPORTED int cudaGraphExecKernelNodeSetParams(void* executable, void* node, const void* parameters)
{
    return setNode(real.setKernel, real.setKernelOfGraph, executable, node, parameters);
}

ESPALIER_EXPORTED int cudaGraphExecMemsetNodeSetParams(void* executable, void* node, const void* parameters)
{
    return setNode(real.setMemset, real.setMemsetOfGraph, executable, node, parameters);
}

ESPALIER_EXPORTED int cudaGraphExecMemcpyNodeSetParams1D(void* executable, void* node, void* to, const void* from,
                                                         std::size_t bytes, int kind)
{
    return setNode(real.setCopy, real.setCopyOfGraph, executable, node, to, from, bytes, kind);
}

ESPALIER_EXPORTED int cudaGraphExecDestroy(void* executable)
{
    if (const auto copy = copies.extract(executable)) {
        ask(real.destroy, copy.mapped());
    }
    return ask(real.destroyExecutable, executable);
}

/// Only a hint, and refused within a capture.
ESPALIER_EXPORTED int cudaGraphUpload(void* executable, void* stream)
{
    return !passThrough && captureOf(stream) ? success : ask(real.upload, executable, stream);
}

ESPALIER_EXPORTED int cudaGraphLaunch(void* executable, void* stream)
{
    const std::optional<Capture> capture = passThrough ? std::nullopt : captureOf(stream);
    if (!capture) {
        return ask(real.launch, executable, stream);
    }
    const auto copy = copies.find(executable);
    void* node = nullptr;
    const int status = copy == copies.end()
                           ? invalidValue
                           : ask(real.addChild, &node, capture->graph, capture->before, capture->count, copy->second);
    return status ? status : ask(real.setDependencies, stream, &node, nullptr, 1, replaceAll);
}

namespace espalier::runner {

void installGraphGate(bool trusted)
{
    find(real.instantiate, "cudaGraphInstantiate");
    find(real.update, "cudaGraphExecUpdate");
    find(real.setKernel, "cudaGraphExecKernelNodeSetParams");
    find(real.setMemset, "cudaGraphExecMemsetNodeSetParams");
    find(real.setCopy, "cudaGraphExecMemcpyNodeSetParams1D");
    find(real.destroyExecutable, "cudaGraphExecDestroy");
    find(real.upload, "cudaGraphUpload");
    find(real.launch, "cudaGraphLaunch");
    find(real.clone, "cudaGraphClone");
    find(real.destroy, "cudaGraphDestroy");
    find(real.findInClone, "cudaGraphNodeFindInClone");
    find(real.setKernelOfGraph, "cudaGraphKernelNodeSetParams");
    find(real.setMemsetOfGraph, "cudaGraphMemsetNodeSetParams");
    find(real.setCopyOfGraph, "cudaGraphMemcpyNodeSetParams1D");
    find(real.captureInfo, "cudaStreamGetCaptureInfo");
    find(real.addChild, "cudaGraphAddChildGraphNode");
    find(real.setDependencies, "cudaStreamUpdateCaptureDependencies");
    passThrough = trusted || !real.clone; // the simulated runtime has no graphs, and says so itself
}

} // namespace espalier::runner
