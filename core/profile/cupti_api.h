// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <cstring>
#include <string>
#include <vector>

namespace espalier::profile {

/// Every CUPTI function Espalier calls.
#define ESPALIER_CUPTI_FUNCTIONS(X)                                                                                    \
    X(cuptiGetVersion)                                                                                                 \
    X(cuptiGetResultString)                                                                                            \
    X(cuptiActivityRegisterCallbacks)                                                                                  \
    X(cuptiActivityEnable)                                                                                             \
    X(cuptiActivityDisable)                                                                                            \
    X(cuptiActivityFlushAll)                                                                                           \
    X(cuptiActivityGetNextRecord)                                                                                      \
    X(cuptiActivityGetNumDroppedRecords)                                                                               \
    X(cuptiGetStreamIdEx)                                                                                              \
    X(cuptiSubscribe)                                                                                                  \
    X(cuptiEnableCallback)                                                                                             \
    X(cuptiProfilerInitialize)                                                                                         \
    X(cuptiProfilerGetCounterAvailability)                                                                             \
    X(cuptiDeviceGetChipName)                                                                                          \
    X(cuptiProfilerDeviceSupported)                                                                                    \
    X(cuptiProfilerHostInitialize)                                                                                     \
    X(cuptiProfilerHostDeinitialize)                                                                                   \
    X(cuptiProfilerHostGetSupportedChips)                                                                              \
    X(cuptiProfilerHostConfigAddMetrics)                                                                               \
    X(cuptiProfilerHostGetConfigImageSize)                                                                             \
    X(cuptiProfilerHostGetConfigImage)                                                                                 \
    X(cuptiProfilerHostGetNumOfPasses)                                                                                 \
    X(cuptiProfilerHostEvaluateToGpuValues)                                                                            \
    X(cuptiRangeProfilerEnable)                                                                                        \
    X(cuptiRangeProfilerDisable)                                                                                       \
    X(cuptiRangeProfilerSetConfig)                                                                                     \
    X(cuptiRangeProfilerStart)                                                                                         \
    X(cuptiRangeProfilerStop)                                                                                          \
    X(cuptiRangeProfilerPushRange)                                                                                     \
    X(cuptiRangeProfilerPopRange)                                                                                      \
    X(cuptiRangeProfilerDecodeData)                                                                                    \
    X(cuptiRangeProfilerGetCounterDataSize)                                                                            \
    X(cuptiRangeProfilerCounterDataImageInitialize)                                                                    \
    X(cuptiRangeProfilerGetCounterDataInfo)                                                                            \
    X(cuptiPCSamplingSetConfigurationAttribute)                                                                        \
    X(cuptiPCSamplingGetData)                                                                                          \
    X(cuptiPCSamplingEnable)                                                                                           \
    X(cuptiPCSamplingDisable)                                                                                          \
    X(cuptiPCSamplingStart)                                                                                            \
    X(cuptiPCSamplingStop)                                                                                             \
    X(cuptiPCSamplingGetNumStallReasons)                                                                               \
    X(cuptiPCSamplingGetStallReasons)                                                                                  \
    X(cuptiSassMetricsGetProperties)                                                                                   \
    X(cuptiSassMetricsSetConfig)                                                                                       \
    X(cuptiSassMetricsUnsetConfig)                                                                                     \
    X(cuptiSassMetricsEnable)                                                                                          \
    X(cuptiSassMetricsDisable)                                                                                         \
    X(cuptiSassMetricsGetDataProperties)                                                                               \
    X(cuptiSassMetricsFlushData)                                                                                       \
    X(cuptiGetCubinCrc)

/// CUPTI, loaded once per process with dlopen by its full path and never linked. Its headers are used at compile time
/// only; records follow the loaded library, so nothing beyond their common prefix is read.
/// Thread: any, after loadCupti() has returned. Never unloaded: after cuptiFinalize no profiling is possible.
struct CuptiApi {
#define ESPALIER_CUPTI_POINTER(name) decltype(&::name) name = nullptr;
    ESPALIER_CUPTI_FUNCTIONS(ESPALIER_CUPTI_POINTER)
#undef ESPALIER_CUPTI_POINTER

    std::string path;          ///< of libcupti, links resolved
    std::uint32_t version = 0; ///< cuptiGetVersion: 130001

    /// "CUPTI 26 (CUPTI_ERROR_HARDWARE_BUSY)"
    std::string describe(CUptiResult code) const;
};

/// Loads the library at `path` (core/profile/cupti_search.h finds it). Errors: NotFound where it cannot be loaded,
/// NotSupported where it is older than what is called here.
Result<CuptiApi> loadCupti(const std::string& path);

} // namespace espalier::profile

/// A params struct of CUPTI, zeroed, with its size set as the header wants it.
#define ESPALIER_CUPTI_PARAMS(Type, name)                                                                              \
    Type name;                                                                                                         \
    std::memset(&name, 0, sizeof name);                                                                                \
    name.structSize = Type##_STRUCT_SIZE

/// Returns an Error with cause and remedy (core/profile/cupti_error.h) from the enclosing function when `call` fails.
#define ESPALIER_CUPTI(api, what, call)                                                                                \
    if (const CUptiResult espalierCode = (call); espalierCode != CUPTI_SUCCESS)                                        \
    return std::unexpected(::espalier::profile::cuptiError((api).describe(espalierCode), espalierCode, what))
