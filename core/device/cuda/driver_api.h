// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cuda.h>

#include <string>

namespace espalier::cuda {

/// Every driver function Espalier calls, by the name in cuda.h (which maps it to the versioned symbol).
#define ESPALIER_DRIVER_FUNCTIONS(X)                                                                                   \
    X(cuInit)                                                                                                          \
    X(cuDriverGetVersion)                                                                                              \
    X(cuDeviceGetCount)                                                                                                \
    X(cuDeviceGet)                                                                                                     \
    X(cuDeviceGetName)                                                                                                 \
    X(cuDeviceGetUuid)                                                                                                 \
    X(cuDeviceGetAttribute)                                                                                            \
    X(cuDeviceTotalMem)                                                                                                \
    X(cuDevicePrimaryCtxRetain)                                                                                        \
    X(cuDevicePrimaryCtxRelease)                                                                                       \
    X(cuCtxSetCurrent)                                                                                                 \
    X(cuCtxSynchronize)                                                                                                \
    X(cuCtxSetLimit)                                                                                                   \
    X(cuCtxResetPersistingL2Cache)                                                                                     \
    X(cuCtxGetLimit)                                                                                                   \
    X(cuDeviceGetDefaultMemPool)                                                                                       \
    X(cuMemPoolSetAttribute)                                                                                           \
    X(cuGetErrorName)                                                                                                  \
    X(cuGetErrorString)                                                                                                \
    X(cuMemGetInfo)                                                                                                    \
    X(cuMemAlloc)                                                                                                      \
    X(cuMemFree)                                                                                                       \
    X(cuMemGetAllocationGranularity)                                                                                   \
    X(cuMemCreate)                                                                                                     \
    X(cuMemRelease)                                                                                                    \
    X(cuMemAddressReserve)                                                                                             \
    X(cuMemAddressFree)                                                                                                \
    X(cuMemMap)                                                                                                        \
    X(cuMemUnmap)                                                                                                      \
    X(cuMemSetAccess)                                                                                                  \
    X(cuMemExportToShareableHandle)                                                                                    \
    X(cuMemImportFromShareableHandle)                                                                                  \
    X(cuMemcpyHtoD)                                                                                                    \
    X(cuMemcpyDtoH)                                                                                                    \
    X(cuMemcpyDtoDAsync)                                                                                               \
    X(cuMemsetD8Async)                                                                                                 \
    X(cuMemsetD32Async)                                                                                                \
    X(cuModuleLoadData)                                                                                                \
    X(cuModuleUnload)                                                                                                  \
    X(cuModuleGetFunction)                                                                                             \
    X(cuLaunchKernel)                                                                                                  \
    X(cuStreamCreate)                                                                                                  \
    X(cuStreamDestroy)                                                                                                 \
    X(cuStreamSynchronize)                                                                                             \
    X(cuStreamBeginCapture)                                                                                            \
    X(cuStreamEndCapture)                                                                                              \
    X(cuGraphGetNodes)                                                                                                 \
    X(cuGraphNodeGetType)                                                                                              \
    X(cuGraphChildGraphNodeGetGraph)                                                                                   \
    X(cuGraphInstantiate)                                                                                              \
    X(cuGraphLaunch)                                                                                                   \
    X(cuGraphExecDestroy)                                                                                              \
    X(cuGraphDestroy)                                                                                                  \
    X(cuEventCreate)                                                                                                   \
    X(cuEventDestroy)                                                                                                  \
    X(cuEventRecord)                                                                                                   \
    X(cuEventElapsedTime)

/// The CUDA driver, loaded once per process with dlopen from libcuda.so.1, or from the file named by the environment
/// variable ESPALIER_LIBCUDA (tests). Thread: any, after driverApi() has returned once. Never unloaded.
struct DriverApi {
#define ESPALIER_DRIVER_POINTER(name) decltype(&::name) name = nullptr;
    ESPALIER_DRIVER_FUNCTIONS(ESPALIER_DRIVER_POINTER)
#undef ESPALIER_DRIVER_POINTER

    int version = 0; ///< cuDriverGetVersion: 13000 for 13.0
    /// A stand-in driver's (tests): the nanoseconds of a clock that its own work moves. Null with NVIDIA's.
    unsigned long long (*ownClock)() = nullptr;

    /// "CUDA 700 CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
    std::string describe(CUresult code) const;
};

/// Loads and initialises the driver at the first call. Errors: NotFound without a driver or a GPU, NotSupported for a
/// driver older than CUDA 13.0.
Result<const DriverApi*> driverApi();

} // namespace espalier::cuda

/// Returns Error{Internal or OutOfMemory, "<what>: CUDA …"} from the enclosing function when `call` fails.
#define ESPALIER_CUDA(api, what, call)                                                                                 \
    if (const CUresult espalierCode = (call); espalierCode != CUDA_SUCCESS)                                            \
    return ::espalier::fail(espalierCode == CUDA_ERROR_OUT_OF_MEMORY ? ::espalier::ErrorCode::OutOfMemory              \
                                                                     : ::espalier::ErrorCode::Internal,                \
                            std::string(what) + ": " + (api).describe(espalierCode) + ".")
