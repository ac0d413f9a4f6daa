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
    *value = attribute == cudaDevAttrMultiProcessorCount ? 132 : attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
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

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned)
{
    *stream = nullptr;
    return cudaSuccess;
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

cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t)
{
    return remember(cudaErrorNoKernelImageForDevice);
}

} // extern "C"
