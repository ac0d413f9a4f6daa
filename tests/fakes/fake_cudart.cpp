// SPDX-License-Identifier: Apache-2.0
// A libcudart.so.13 over the fake driver, for candidates that are plain C++ (host memory is device memory there). It
// has the few functions such a candidate may call; registering and launching device code is accepted and refused.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <utility>

namespace {

cudaError_t lastError = cudaSuccess;

cudaError_t remember(cudaError_t error)
{
    lastError = error;
    return error;
}

/// The fake driver's function with the same parameters, whose errors have the same numbers; where there is no driver in
/// the process (espalier-worker sanitize) it cannot work.
template <typename... Parameters>
cudaError_t drive(const char* name, Parameters... parameters)
{
    const auto function = reinterpret_cast<int (*)(Parameters...)>(::dlsym(RTLD_DEFAULT, name));
    return remember(function ? static_cast<cudaError_t>(function(parameters...)) : cudaErrorNotSupported);
}

} // namespace

extern "C" {

cudaError_t cudaGetLastError()
{
    return std::exchange(lastError, cudaSuccess);
}
cudaError_t cudaPeekAtLastError()
{
    return lastError;
}

const char* cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "an error of the fake runtime";
}

const char* cudaGetErrorName(cudaError_t error)
{
    return error == cudaSuccess ? "cudaSuccess" : "cudaErrorFake";
}

cudaError_t cudaGetDevice(int* device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int)
{
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
        *value = 132;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = 9;
        break;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
        *value = 1024;
        break;
    default:
        *value = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t)
{
    std::memset(to, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes)
{
    *memory = std::malloc(bytes);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind)
{
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags)
{
    *stream = nullptr; // without a driver: work runs at once wherever it is sent
    return ::dlsym(RTLD_DEFAULT, "cuStreamCreate") ? drive("cuStreamCreate", stream, flags) : cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    return drive("cuStreamBeginCapture_v2", stream, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph)
{
    return drive("cuStreamEndCapture", stream, graph);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** before,
                                     const cudaGraphEdgeData** edges, std::size_t* count)
{
    return drive("cuStreamGetCaptureInfo_v3", stream, status, id, graph, before, edges, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* edges, std::size_t count, unsigned flags)
{
    return drive("cuStreamUpdateCaptureDependencies_v2", stream, nodes, edges, count, flags);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags)
{
    return drive("cuGraphInstantiateWithFlags", executable, graph, flags);
}

cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t graph)
{
    return drive("cuGraphClone", copy, graph);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                       std::size_t count, cudaGraph_t child)
{
    return drive("cuGraphAddChildGraphNode", node, graph, before, count, child);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* told)
{
    return drive("cuGraphExecUpdate_v2", executable, graph, told);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    return drive("cuGraphLaunch", executable, stream);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return drive("cuGraphDestroy", graph);
}

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t)
{
    *memory = std::malloc(bytes);
    return *memory ? cudaSuccess : remember(cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t)
{
    std::free(memory);
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data)
{
    using Launch = int (*)(cudaStream_t, cudaHostFn_t, void*);
    static const auto launch = reinterpret_cast<Launch>(::dlsym(RTLD_DEFAULT, "cuLaunchHostFunc")); // the fake driver's
    if (!launch) { // no driver in this process (espalier-worker sanitize): at once
        function(data);
        return cudaSuccess;
    }
    return launch(stream, function, data) == 0 ? cudaSuccess : remember(cudaErrorInvalidValue);
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}

void** __cudaRegisterFatBinary(void*)
{
    static void* handle = nullptr;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*) {}
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, struct CUstream_st*)
{
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*)
{
    return cudaSuccess;
}
char __cudaInitModule(void**)
{
    return 1;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void*)
{
    *kernel = nullptr;
    return remember(cudaErrorNoKernelImageForDevice);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t)
{
    return remember(cudaErrorNoKernelImageForDevice);
}

cudaError_t cudaLaunchKernel(const void*, dim3, dim3 block, void**, std::size_t, cudaStream_t)
{
    return remember(block.x * block.y * block.z > 1024 ? cudaErrorInvalidConfiguration
                                                       : cudaErrorNoKernelImageForDevice);
}

} // extern "C"
