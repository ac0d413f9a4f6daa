// SPDX-License-Identifier: Apache-2.0
// What a program may ask about the device, and the words for errors.
#include "core/simgpu/simrt/runtime.h"

#include <algorithm>
#include <cstring>

using namespace espalier::sim;

namespace {

struct ErrorWords {
    cudaError_t code;
    const char* name;
    const char* text;
};

#define WORDS(code, text) {code, #code, text}
constexpr ErrorWords errorWords[] = {
    WORDS(cudaSuccess, "no error"),
    WORDS(cudaErrorInvalidValue, "invalid argument"),
    WORDS(cudaErrorMemoryAllocation, "out of memory"),
    WORDS(cudaErrorInitializationError, "initialization error"),
    WORDS(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    WORDS(cudaErrorInvalidSymbol, "invalid device symbol"),
    WORDS(cudaErrorDevicesUnavailable, "the simulated device's process is gone or ended the connection"),
    WORDS(cudaErrorMissingConfiguration, "missing launch configuration"),
    WORDS(cudaErrorInvalidDeviceFunction, "invalid device function"),
    WORDS(cudaErrorInvalidDevice, "invalid device ordinal"),
    WORDS(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    WORDS(cudaErrorNotReady, "device not ready"),
    WORDS(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    WORDS(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    WORDS(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    WORDS(cudaErrorAssert, "device-side assert triggered"),
    WORDS(cudaErrorMisalignedAddress, "misaligned address"),
    WORDS(cudaErrorLaunchFailure, "unspecified launch failure"),
    WORDS(cudaErrorNotPermitted, "operation not permitted"),
    WORDS(cudaErrorNotSupported, "operation not supported"),
    WORDS(cudaErrorUnknown, "unknown error"),
};
#undef WORDS

const ErrorWords* wordsOf(cudaError_t code)
{
    const auto* found = std::ranges::find(errorWords, code, &ErrorWords::code);
    return found == std::end(errorWords) ? nullptr : found;
}

/// Nothing when the attribute is one we have no answer for.
std::optional<int> attributeOf(cudaDeviceAttr attribute, const DeviceLimits& limits)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
        return 1024;
    case cudaDevAttrMaxBlockDimZ:
        return 64;
    case cudaDevAttrMaxGridDimX:
        return 0x7fffffff;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
        return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        return static_cast<int>(sharedPerBlockDefault);
    case cudaDevAttrTotalConstantMemory:
        return 65536;
    case cudaDevAttrWarpSize:
        return 32;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        return limits.registersPerMultiprocessor;
    case cudaDevAttrMultiProcessorCount:
        return limits.multiprocessors;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        return limits.maxThreadsPerMultiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        return limits.maxBlocksPerMultiprocessor;
    case cudaDevAttrL2CacheSize:
        return static_cast<int>(limits.l2Bytes);
    case cudaDevAttrComputeCapabilityMajor:
        return limits.smMajor;
    case cudaDevAttrComputeCapabilityMinor:
        return limits.smMinor;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return static_cast<int>(limits.sharedPerMultiprocessor);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return static_cast<int>(limits.sharedPerBlockOptin);
    case cudaDevAttrReservedSharedMemoryPerBlock:
        return static_cast<int>(limits.sharedReservedPerBlock);
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrMemoryPoolsSupported:
        return 1;
    // Left out of this version of the simulated device, so an honest program must not find them.
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrClusterLaunch:
    case cudaDevAttrIntegrated:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrMaxPersistingL2CacheSize:
    case cudaDevAttrMaxAccessPolicyWindowSize:
        return 0;
    default:
        return std::nullopt;
    }
}

Runtime& runtime()
{
    return Runtime::instance();
}

} // namespace

extern "C" {

cudaError_t cudaGetLastError()
{
    return runtime().lastError(true);
}

cudaError_t cudaPeekAtLastError()
{
    return runtime().lastError(false);
}

const char* cudaGetErrorName(cudaError_t code)
{
    const ErrorWords* words = wordsOf(code);
    return words ? words->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t code)
{
    const ErrorWords* words = wordsOf(code);
    return words ? words->text : "unrecognized error code";
}

cudaError_t cudaGetDevice(int* device)
{
    *device = 0;
    return runtime().done(cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int* count)
{
    *count = 1;
    return runtime().done(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
    return runtime().done(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaRuntimeGetVersion(int* version)
{
    *version = CUDART_VERSION;
    return runtime().done(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version)
{
    *version = CUDART_VERSION;
    return runtime().done(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device)
{
    if (device != 0) {
        return runtime().done(cudaErrorInvalidDevice);
    }
    const auto answer = attributeOf(attribute, runtime().limits());
    if (!answer) {
        runtime().noteUnsupported("a device attribute of number " + std::to_string(attribute));
        return runtime().done(cudaErrorNotSupported);
    }
    *value = *answer;
    return runtime().done(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
    if (device != 0) {
        return runtime().done(cudaErrorInvalidDevice);
    }
    const DeviceLimits& limits = runtime().limits();
    *properties = {};
    std::memcpy(properties->name, limits.name, sizeof limits.name);
    properties->totalGlobalMem = limits.totalBytes;
    properties->sharedMemPerBlock = sharedPerBlockDefault;
    properties->regsPerBlock = properties->regsPerMultiprocessor = limits.registersPerMultiprocessor;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
    properties->maxThreadsDim[2] = 64;
    properties->maxGridSize[0] = 0x7fffffff;
    properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
    properties->totalConstMem = 65536;
    properties->major = limits.smMajor;
    properties->minor = limits.smMinor;
    properties->multiProcessorCount = limits.multiprocessors;
    properties->concurrentKernels = properties->unifiedAddressing = properties->streamPrioritiesSupported = 1;
    properties->globalL1CacheSupported = properties->localL1CacheSupported = properties->memoryPoolsSupported = 1;
    properties->l2CacheSize = static_cast<int>(limits.l2Bytes);
    properties->maxThreadsPerMultiProcessor = limits.maxThreadsPerMultiprocessor;
    properties->sharedMemPerMultiprocessor = limits.sharedPerMultiprocessor;
    properties->sharedMemPerBlockOptin = limits.sharedPerBlockOptin;
    properties->maxBlocksPerMultiProcessor = limits.maxBlocksPerMultiprocessor;
    properties->reservedSharedMemPerBlock = limits.sharedReservedPerBlock;
    return runtime().done(cudaSuccess);
}

} // extern "C"
