// SPDX-License-Identifier: Apache-2.0
// Launches, checked as CUDA checks them, and what a program may ask about a kernel.
#include "core/simgpu/simrt/runtime.h"

#include <algorithm>
#include <cstring>

using namespace espalier::sim;

namespace {

Runtime& runtime()
{
    return Runtime::instance();
}

cudaError_t shapeError(const ShimKernel& kernel, dim3 grid, dim3 block, std::size_t shared)
{
    if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > 1024 || block.y > 1024 || block.z > 64 ||
        std::uint64_t{block.x} * block.y * block.z > 1024) {
        return cudaErrorInvalidConfiguration;
    }
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535) {
        return cudaErrorInvalidConfiguration;
    }
    if (kernel.facts.maxThreads != 0 && block.x * block.y * block.z > kernel.facts.maxThreads) {
        return cudaErrorInvalidValue;
    }
    if (shared > kernel.maxDynamicShared) {
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream)
{
    const auto streamId = runtime().streamId(stream);
    if (!streamId) {
        return runtime().done(cudaErrorInvalidResourceHandle);
    }
    const ShimKernel* kernel = runtime().kernel(function);
    if (!kernel) {
        return runtime().done(cudaErrorInvalidDeviceFunction);
    }
    if (const cudaError_t error = shapeError(*kernel, grid, block, shared); error != cudaSuccess) {
        return runtime().done(error);
    }
    std::string parameters(kernel->facts.parameterBytes, '\0');
    for (std::size_t i = 0; i < kernel->facts.parameters.size(); ++i) {
        const auto& parameter = kernel->facts.parameters[i];
        if (std::uint64_t{parameter.offset} + parameter.bytes <= parameters.size()) {
            std::memcpy(parameters.data() + parameter.offset, args[i], parameter.bytes);
        }
    }
    ByteWriter message;
    message.put(Request::Launch).put(*streamId).put(kernel->facts.kernel);
    message.put(grid.x).put(grid.y).put(grid.z).put(block.x).put(block.y).put(block.z);
    message.put(static_cast<std::uint32_t>(shared)).text(parameters);
    runtime().send(message);
    return runtime().done(cudaSuccess);
}

cudaError_t unsupported(const char* what)
{
    runtime().noteUnsupported(what);
    return runtime().done(cudaErrorNotSupported);
}

/// Attributes that change nothing here are taken; those that change what a launch means are not.
const char* unsupportedAttribute(const cudaLaunchAttribute& attribute, const dim3& grid)
{
    switch (attribute.id) {
    case cudaLaunchAttributeClusterDimension: {
        const auto& cluster = attribute.val.clusterDim;
        return cluster.x * cluster.y * cluster.z > 1 ? "thread block clusters" : nullptr;
    }
    case cudaLaunchAttributeCooperative:
        return attribute.val.cooperative && std::uint64_t{grid.x} * grid.y * grid.z > 1 ? "cooperative launches"
                                                                                        : nullptr;
    case cudaLaunchAttributeProgrammaticStreamSerialization: // the launches simply run one after the other
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
        return nullptr;
    default:
        return "an unknown launch attribute";
    }
}

/// Blocks that fit on one multiprocessor by threads, block slots and shared memory. PTX says nothing of registers:
/// up to 32 per thread, which a kernel of full occupancy may use, are taken to fit.
int activeBlocks(const ShimKernel& kernel, int blockSize, std::size_t dynamicShared)
{
    const DeviceLimits& limits = runtime().limits();
    if (blockSize <= 0 || blockSize > 1024 || dynamicShared > kernel.maxDynamicShared ||
        (kernel.facts.maxThreads != 0 && static_cast<std::uint32_t>(blockSize) > kernel.facts.maxThreads)) {
        return 0;
    }
    constexpr std::uint64_t sharedUnit = 128;
    const int threads = (blockSize + 31) / 32 * 32;
    const std::uint64_t asked = kernel.facts.staticSharedBytes + dynamicShared + limits.sharedReservedPerBlock;
    const std::uint64_t shared = (asked + sharedUnit - 1) / sharedUnit * sharedUnit;
    const int byShared = static_cast<int>(limits.sharedPerMultiprocessor / shared);
    return std::min({limits.maxThreadsPerMultiprocessor / threads, limits.maxBlocksPerMultiprocessor, byShared});
}

} // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args, size_t shared,
                             cudaStream_t stream)
{
    return launch(function, grid, block, args, shared, stream);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared,
                               cudaStream_t stream)
{
    return launch(kernel, grid, block, args, shared, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** args)
{
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        if (const char* what = unsupportedAttribute(config->attrs[i], config->gridDim)) {
            return unsupported(what);
        }
    }
    return launch(function, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args, size_t shared,
                                        cudaStream_t stream)
{
    if (std::uint64_t{grid.x} * grid.y * grid.z > 1) {
        return unsupported("cooperative launches");
    }
    return launch(function, grid, block, args, shared, stream);
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value)
{
    ShimKernel* kernel = runtime().kernel(function);
    if (!kernel) {
        return runtime().done(cudaErrorInvalidDeviceFunction);
    }
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || static_cast<std::uint64_t>(value) + kernel->facts.staticSharedBytes >
                             runtime().limits().sharedPerBlockOptin) {
            return runtime().done(cudaErrorInvalidValue);
        }
        kernel->maxDynamicShared = static_cast<std::uint64_t>(value);
        return runtime().done(cudaSuccess);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return runtime().done(cudaSuccess);
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        return unsupported("thread block clusters");
    default:
        return runtime().done(cudaErrorInvalidValue);
    }
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int)
{
    return cudaFuncSetAttribute(kernel, attribute, value);
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache)
{
    return runtime().done(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function)
{
    const ShimKernel* kernel = runtime().kernel(function);
    if (!kernel) {
        return runtime().done(cudaErrorInvalidDeviceFunction);
    }
    *attributes = {};
    attributes->sharedSizeBytes = kernel->facts.staticSharedBytes;
    attributes->localSizeBytes = kernel->facts.localBytes;
    attributes->maxThreadsPerBlock = kernel->facts.maxThreads != 0 ? static_cast<int>(kernel->facts.maxThreads) : 1024;
    attributes->numRegs = 32; // see activeBlocks
    attributes->ptxVersion = attributes->binaryVersion = 10 * runtime().limits().smMajor + runtime().limits().smMinor;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(kernel->maxDynamicShared);
    attributes->preferredShmemCarveout = -1;
    return runtime().done(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int blockSize,
                                                                   size_t dynamicShared, unsigned)
{
    const ShimKernel* kernel = runtime().kernel(function);
    if (!kernel) {
        return runtime().done(cudaErrorInvalidDeviceFunction);
    }
    *blocks = activeBlocks(*kernel, blockSize, dynamicShared);
    return runtime().done(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int blockSize,
                                                          size_t dynamicShared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, blockSize, dynamicShared, 0);
}

} // extern "C"
