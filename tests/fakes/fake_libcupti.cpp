// SPDX-License-Identifier: Apache-2.0
// A libcupti.so.13 without a GPU, for tests. What it does wrong is the name of the folder it lies in, as a confined
// profiler has no environment: "fine", "denied" (35), "busy" (26), "fault" (999 when counters are decoded), "empty" (no
// ranges), "crash" (signal in a range), "garbage" (counters that are not numbers), "outside" (work on another stream
// that goes on after the call), "unattributed" (samples of no kernel). Every counter it has is worth its place in the
// list, from 1.
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace {

std::string behaviour()
{
    Dl_info info{};
    static const int anchor = 0;
    if (dladdr(&anchor, &info) == 0 || !info.dli_fname) {
        return "fine";
    }
    const std::string path = info.dli_fname;
    const std::string folder = path.substr(0, path.rfind('/'));
    return folder.substr(folder.rfind('/') + 1);
}

bool does(const char* name)
{
    static const std::string told = behaviour();
    return told == name;
}

int passesLeft = 2;
CUpti_BuffersCallbackRequestFunc requestBuffer;
CUpti_BuffersCallbackCompleteFunc completeBuffer;
CUpti_PCSamplingData* configured;

/// One kernel of 2 us on the given stream; "outside": another of one second on stream 9.
CUpti_ActivityKernel9 kernel(std::uint64_t start, std::uint64_t end, std::uint32_t stream)
{
    CUpti_ActivityKernel9 record;
    std::memset(&record, 0, sizeof record);
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.start = start;
    record.end = end;
    record.streamId = stream;
    record.gridX = 8;
    record.gridY = record.gridZ = record.blockY = record.blockZ = 1;
    record.blockX = 256;
    record.registersPerThread = 32;
    record.name = "fake_kernel";
    return record;
}

} // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version)
{
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text)
{
    *text = "CUPTI_FAKE";
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete)
{
    requestBuffer = request;
    completeBuffer = complete;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t)
{
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0;
    requestBuffer(&buffer, &size, &most);
    std::vector<CUpti_ActivityKernel9> records = {kernel(1000, 3000, 7)};
    if (does("outside")) {
        records.push_back(kernel(1500, 1'000'001'500, 9));
    }
    const std::size_t bytes = records.size() * sizeof records[0];
    std::memcpy(buffer, records.data(), bytes);
    completeBuffer(nullptr, 0, buffer, size, bytes);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record)
{
    std::uint8_t* next = *record ? reinterpret_cast<std::uint8_t*>(*record) + sizeof(CUpti_ActivityKernel9) : buffer;
    if (next >= buffer + valid) {
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped)
{
    *dropped = 0;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream, uint8_t, uint32_t* id)
{
    *id = 7;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params)
{
    params->counterAvailabilityImageSize = 16;
    return does("denied") ? CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
           : does("busy") ? CUPTI_ERROR_HARDWARE_BUSY
                          : CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params)
{
    params->pChipName = "GH100";
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params)
{
    params->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params)
{
    params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new int(0));
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params)
{
    delete reinterpret_cast<int*>(params->pHostObject);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* params)
{
    static const char* chips[] = {"GH100"};
    params->numChips = 1;
    params->ppChipNames = chips;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params)
{
    params->configImageSize = 8;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params)
{
    params->numOfPasses = 2;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params)
{
    for (std::size_t i = 0; i < params->numMetrics; ++i) {
        params->pMetricValues[i] = does("garbage") ? std::nan("") : static_cast<double>(i + 1);
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params)
{
    static int object;
    params->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&object);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params)
{
    const bool sound = params->numNestingLevels == 1 && params->minNestingLevel == 1 && params->configSize == 8 &&
                       params->counterDataImageSize == 8 && params->range == CUPTI_UserRange &&
                       params->replayMode == CUPTI_UserReplay;
    return sound ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params)
{
    params->isAllPassSubmitted = --passesLeft == 0 ? 1 : 0;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params*)
{
    if (does("crash")) {
        std::raise(SIGSEGV);
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*)
{
    return does("fault") ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params)
{
    params->counterDataSize = 8;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params)
{
    params->numTotalRanges = does("empty") ? 0 : 1;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams* params)
{
    for (std::size_t i = 0; i < params->numAttributes; ++i) {
        const auto& info = params->pPCSamplingConfigurationInfo[i];
        if (info.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER) {
            configured =
                static_cast<CUpti_PCSamplingData*>(info.attributeData.samplingDataBufferData.samplingDataBuffer);
        }
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams* params)
{
    auto* data = static_cast<CUpti_PCSamplingData*>(params->pcSamplingData);
    data->totalSamples = 100;
    data->remainingNumPcs = 0;
    if (does("unattributed")) {
        data->nonUsrKernelsTotalSamples = 100;
        return CUPTI_SUCCESS;
    }
    static char name[] = "fake_kernel";
    data->totalNumPcs = 1;
    data->pPcData[0].functionName = name;
    data->pPcData[0].pcOffset = 32;
    data->pPcData[0].stallReasonCount = 2;
    data->pPcData[0].stallReason[0].pcSamplingStallReasonIndex = 4;
    data->pPcData[0].stallReason[0].samples = 60;
    data->pPcData[0].stallReason[1].pcSamplingStallReasonIndex = 5; // a part of the 60
    data->pPcData[0].stallReason[1].samples = 50;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams*)
{
    return CUPTI_SUCCESS;
}
/// What was not read yet goes to the configured buffer.
CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams*)
{
    if (configured && !does("unattributed")) {
        static char name[] = "fake_kernel";
        configured->totalNumPcs = 1;
        configured->totalSamples = 40;
        configured->pPcData[0].functionName = name;
        configured->pPcData[0].pcOffset = 32;
        configured->pPcData[0].stallReasonCount = 1;
        configured->pPcData[0].stallReason[0].pcSamplingStallReasonIndex = 4;
        configured->pPcData[0].stallReason[0].samples = 40;
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingStart(CUpti_PCSamplingStartParams*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingStop(CUpti_PCSamplingStopParams*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams* params)
{
    *params->numStallReasons = 2;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams* params)
{
    const char* names[] = {"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
                           "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued"};
    for (std::uint32_t i = 0; i < 2; ++i) {
        params->stallReasonIndex[i] = 4 + i;
        std::strncpy(params->stallReasons[i], names[i], CUPTI_STALL_REASON_STRING_SIZE - 1);
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSassMetricsGetProperties(CUpti_SassMetrics_GetProperties_Params* params)
{
    const bool known = std::strcmp(params->pMetricName, "smsp__sass_inst_executed") == 0;
    params->metric.metricId = 11;
    return known ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_METRIC_NAME;
}
CUptiResult cuptiSassMetricsSetConfig(CUpti_SassMetricsSetConfig_Params* params)
{
    return params->numOfMetricConfig == 1 && params->pConfigs[0].metricId == 11 ? CUPTI_SUCCESS
                                                                                : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiSassMetricsUnsetConfig(CUpti_SassMetricsUnsetConfig_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSassMetricsEnable(CUpti_SassMetricsEnable_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSassMetricsDisable(CUpti_SassMetricsDisable_Params*)
{
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSassMetricsGetDataProperties(CUpti_SassMetricsGetDataProperties_Params* params)
{
    params->numOfPatchedInstructionRecords = 1;
    params->numOfInstances = 1;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSassMetricsFlushData(CUpti_SassMetricsFlushData_Params* params)
{
    static char name[] = "fake_kernel";
    params->pMetricsData[0].functionName = name;
    params->pMetricsData[0].pcOffset = 32;
    params->pMetricsData[0].pInstanceValues[0] = {11, 640};
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams*)
{
    return CUPTI_ERROR_UNKNOWN;
}

} // extern "C"
