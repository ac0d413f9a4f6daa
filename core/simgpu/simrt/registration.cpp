// SPDX-License-Identifier: Apache-2.0
// What nvcc's generated host code calls: registration of fat binaries, kernels and variables, and <<<>>> itself.
#include "core/simgpu/simrt/runtime.h"

#include <cstring>
#include <vector>

using namespace espalier::sim;

namespace {

/// As crt/host_runtime.h and the fat binary's own header lay it out.
struct FatbinWrapper {
    int magic;
    int version;
    const char* data;
    void* more;
};
struct ContainerHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t headerBytes;
    std::uint64_t bodyBytes;
};
constexpr int wrapperMagic = 0x466243b1;
constexpr std::uint32_t containerMagic = 0xBA55ED50;

struct CallConfiguration {
    dim3 grid, block;
    std::size_t shared;
    cudaStream_t stream;
};
thread_local std::vector<CallConfiguration> configurations;

/// What a void** fat binary handle points to.
struct ModuleHandle {
    void* unused;
    std::uint32_t module;
};

std::uint32_t moduleOf(void** handle)
{
    return reinterpret_cast<ModuleHandle*>(handle)->module;
}

} // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* fatCubin)
{
    auto* handle = new ModuleHandle{nullptr, 0xffffffff};
    const auto* wrapper = static_cast<const FatbinWrapper*>(fatCubin);
    if (wrapper->magic == wrapperMagic) {
        ContainerHeader header;
        std::memcpy(&header, wrapper->data, sizeof header);
        if (header.magic == containerMagic && header.bodyBytes <= maxFatbinBytes) {
            handle->module = Runtime::instance().registerModule({wrapper->data, header.headerBytes + header.bodyBytes});
        }
    }
    return reinterpret_cast<void**>(handle);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle)
{
    delete reinterpret_cast<ModuleHandle*>(handle);
}

char __cudaInitModule(void**)
{
    return 1;
}

void __cudaRegisterFunction(void** handle, const char* hostFunction, char*, const char* deviceName, int, uint3*, uint3*,
                            dim3*, dim3*, int*)
{
    Runtime::instance().registerKernel(hostFunction, moduleOf(handle), deviceName);
}

void __cudaRegisterVar(void** handle, char* hostVariable, char*, const char* deviceName, int, size_t, int, int)
{
    Runtime::instance().registerVariable(hostVariable, moduleOf(handle), deviceName);
}

void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int)
{
    Runtime::instance().noteUnsupported("__managed__ variables");
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream)
{
    configurations.push_back({grid, block, shared, stream});
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream)
{
    if (configurations.empty()) {
        return cudaErrorMissingConfiguration;
    }
    const CallConfiguration top = configurations.back();
    configurations.pop_back();
    *grid = top.grid;
    *block = top.block;
    *shared = top.shared;
    *static_cast<cudaStream_t*>(stream) = top.stream;
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* hostFunction)
{
    const void* handle = Runtime::instance().handleOf(hostFunction);
    *kernel = static_cast<cudaKernel_t>(const_cast<void*>(handle));
    return handle ? cudaSuccess : Runtime::instance().done(cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* hostFunction)
{
    return __cudaGetKernel(kernel, hostFunction);
}

} // extern "C"
