// SPDX-License-Identifier: Apache-2.0
#include "core/profile/range_collector.h"

#include "core/device/cuda/driver_api.h"
#include "core/profile/cache_sweep.h"
#include "core/profile/counter_host.h"
#include "core/profile/cupti_error.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <thread>

namespace espalier::profile {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int mostPasses = 200;
constexpr std::chrono::milliseconds busyPause{50};
constexpr std::chrono::seconds busyPatience{3};

double millisecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Calls until it is not HARDWARE_BUSY: another process between its Start and Stop holds the counters.
template <typename F>
CUptiResult patiently(const F& call)
{
    const auto end = Clock::now() + busyPatience;
    CUptiResult code = call();
    while (code == CUPTI_ERROR_HARDWARE_BUSY && Clock::now() < end) {
        std::this_thread::sleep_for(busyPause);
        code = call();
    }
    return code;
}

class RangeCollector final : public Collector
{
public:
    RangeCollector(const CuptiApi& api, int ordinal, std::vector<CounterSet> sets, bool cold)
        : m_api(api), m_ordinal(ordinal), m_sets(std::move(sets)), m_cold(cold)
    {
    }

    Result<void> prepare() override
    {
        if (const int obstacle = deviceObstacle(m_api, m_ordinal)) {
            return std::unexpected(
                cuptiError(m_api.describe(static_cast<CUptiResult>(obstacle)), obstacle, "Reading hardware counters"));
        }
        ESPALIER_TRY(m_driver, cuda::driverApi());
        CUpti_Profiler_Initialize_Params initialize;
        std::memset(&initialize, 0, sizeof initialize);
        initialize.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
        ESPALIER_CUPTI(m_api, "Starting the profiler", m_api.cuptiProfilerInitialize(&initialize));
        ESPALIER_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
        chip.deviceIndex = static_cast<std::size_t>(m_ordinal);
        ESPALIER_CUPTI(m_api, "Asking for the chip's name", m_api.cuptiDeviceGetChipName(&chip));
        m_chip = chip.pChipName;
        m_counters = countersFor(familyOf(m_chip), m_sets);
        ESPALIER_TRY(std::vector<std::uint8_t> availability, readAvailability());
        ESPALIER_TRY(CounterHost host, CounterHost::create(m_api, m_chip, availability));
        if (!host.add(m_counters)) {
            return onlyWhatExists(availability);
        }
        m_host.emplace(std::move(host));
        return schedule();
    }

    Result<Json> collect(const Workload& work) override
    {
        if (m_cold) {
            ESPALIER_TRY(CacheSweep sweep, CacheSweep::create(*m_driver, m_ordinal));
            m_sweep.emplace(std::move(sweep));
        }
        // Modules are loaded and lazy set-up is done before anything is counted.
        if (const int status = work.call(0); status != 0) {
            return fail(ErrorCode::InvalidInput, "The call returned CUDA error " + std::to_string(status) + ".");
        }
        ESPALIER_CHECK(work.device->synchronize());
        const auto start = Clock::now();
        ESPALIER_CHECK(enable());
        auto values = count(work);
        const auto beforeDisable = Clock::now();
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
        disable.pRangeProfilerObject = m_object;
        m_api.cuptiRangeProfilerDisable(&disable); // the values are there or the error is; both count more than this
        if (!values) {
            return std::unexpected(values.error());
        }
        Json counters = Json::object();
        for (std::size_t i = 0; i < m_counters.size(); ++i) {
            if (std::isfinite((*values)[i])) {
                counters[m_counters[i]] = (*values)[i];
            }
        }
        return Json{{"chip", m_chip},
                    {"counters", std::move(counters)},
                    {"unknown", m_unknown},
                    {"passes", m_passes},
                    {"milliseconds", millisecondsSince(start)},
                    {"disable_ms", millisecondsSince(beforeDisable)}};
    }

private:
    Result<std::vector<std::uint8_t>> readAvailability() const
    {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
        ESPALIER_CUPTI(m_api, "Asking which counters there are",
                       patiently([&] { return m_api.cuptiProfilerGetCounterAvailability(&params); }));
        std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
        params.pCounterAvailabilityImage = image.data();
        ESPALIER_CUPTI(m_api, "Asking which counters there are",
                       patiently([&] { return m_api.cuptiProfilerGetCounterAvailability(&params); }));
        image.resize(params.counterAvailabilityImageSize);
        return image;
    }

    /// A chip whose table has a wrong name costs 4 ms a name once more, and loses only that counter.
    Result<void> onlyWhatExists(const std::vector<std::uint8_t>& availability)
    {
        ESPALIER_TRY(m_unknown, unknownCounters(m_api, m_chip, m_counters));
        for (const std::string& name : m_unknown) {
            std::erase(m_counters, name);
        }
        ESPALIER_TRY(CounterHost host, CounterHost::create(m_api, m_chip, availability));
        ESPALIER_CHECK(host.add(m_counters));
        m_host.emplace(std::move(host));
        return schedule();
    }

    Result<void> schedule()
    {
        if (m_counters.empty()) {
            return fail(ErrorCode::NotSupported, "Espalier's table has no counters for the chip " + m_chip + ".");
        }
        ESPALIER_TRY(m_passes, m_host->passes());
        return {};
    }

    Result<void> enable()
    {
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, on);
        ESPALIER_CUPTI(m_api, "Switching the profiler on", m_api.cuptiRangeProfilerEnable(&on));
        m_object = on.pRangeProfilerObject;
        std::vector<const char*> names;
        for (const std::string& counter : m_counters) {
            names.push_back(counter.c_str());
        }
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
        size.pRangeProfilerObject = m_object;
        size.pMetricNames = names.data();
        size.numMetrics = names.size();
        size.maxNumOfRanges = 1;
        size.maxNumRangeTreeNodes = 1;
        ESPALIER_CUPTI(m_api, "Sizing the counters' data", m_api.cuptiRangeProfilerGetCounterDataSize(&size));
        m_data.assign(size.counterDataSize, 0);
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
        image.pRangeProfilerObject = m_object;
        image.counterDataSize = m_data.size();
        image.pCounterData = m_data.data();
        ESPALIER_CUPTI(m_api, "Preparing the counters' data",
                       m_api.cuptiRangeProfilerCounterDataImageInitialize(&image));
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
        config.pRangeProfilerObject = m_object;
        config.configSize = m_host->configImage().size();
        config.pConfig = m_host->configImage().data();
        config.counterDataImageSize = m_data.size();
        config.pCounterDataImage = m_data.data();
        config.range = CUPTI_UserRange;
        config.replayMode = CUPTI_UserReplay;
        config.maxRangesPerPass = 1;
        config.numNestingLevels = 1;
        config.minNestingLevel = 1;
        ESPALIER_CUPTI(m_api, "Configuring the counters", m_api.cuptiRangeProfilerSetConfig(&config));
        return {};
    }

    /// One call within Start and Stop. True when it was the last pass.
    Result<bool> pass(const Workload& work)
    {
        if (m_sweep) {
            ESPALIER_CHECK(m_sweep->run());
        }
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, start);
        start.pRangeProfilerObject = m_object;
        ESPALIER_CUPTI(m_api, "Starting the counters",
                       patiently([&] { return m_api.cuptiRangeProfilerStart(&start); }));
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
        push.pRangeProfilerObject = m_object;
        push.pRangeName = "call";
        ESPALIER_CUPTI(m_api, "Opening the counted range", m_api.cuptiRangeProfilerPushRange(&push));
        const int status = work.call(0);
        const Result<void> ended = work.device->synchronize();
        if (!ended) {
            return std::unexpected(ended.error());
        }
        if (status != 0) {
            return fail(ErrorCode::InvalidInput,
                        "The call returned CUDA error " + std::to_string(status) + " while it was counted.");
        }
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
        pop.pRangeProfilerObject = m_object;
        ESPALIER_CUPTI(m_api, "Closing the counted range", m_api.cuptiRangeProfilerPopRange(&pop));
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
        stop.pRangeProfilerObject = m_object;
        ESPALIER_CUPTI(m_api, "Stopping the counters", m_api.cuptiRangeProfilerStop(&stop));
        return stop.isAllPassSubmitted != 0;
    }

    Result<std::vector<double>> count(const Workload& work)
    {
        for (int passes = 0;; ++passes) {
            if (passes == mostPasses) {
                return fail(ErrorCode::Internal, "The counters asked for more passes than they had announced.");
            }
            ESPALIER_TRY(const bool last, pass(work));
            if (last) {
                break;
            }
        }
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
        decode.pRangeProfilerObject = m_object;
        ESPALIER_CUPTI(m_api, "Decoding the counters", m_api.cuptiRangeProfilerDecodeData(&decode));
        ESPALIER_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
        info.pCounterDataImage = m_data.data();
        info.counterDataImageSize = m_data.size();
        ESPALIER_CUPTI(m_api, "Reading the counters' data", m_api.cuptiRangeProfilerGetCounterDataInfo(&info));
        if (info.numTotalRanges == 0) { // success without a range is not zero: nothing was counted
            return fail(ErrorCode::Internal,
                        "The profiler counted no range and gave no reason; the call may launch nothing.");
        }
        return m_host->evaluate(m_data, 0, m_counters);
    }

    const CuptiApi& m_api;
    int m_ordinal;
    std::vector<CounterSet> m_sets;
    bool m_cold;
    const cuda::DriverApi* m_driver = nullptr;
    std::string m_chip;
    std::vector<std::string> m_counters, m_unknown;
    std::optional<CounterHost> m_host; ///< with the images below: untouched until values are read and Disable is back
    std::size_t m_passes = 0;
    std::vector<std::uint8_t> m_data;
    std::optional<CacheSweep> m_sweep;
    CUpti_RangeProfiler_Object* m_object = nullptr;
};

} // namespace

std::unique_ptr<Collector> makeRangeCollector(const CuptiApi& api, int ordinal, std::vector<CounterSet> sets, bool cold)
{
    return std::make_unique<RangeCollector>(api, ordinal, std::move(sets), cold);
}

int deviceObstacle(const CuptiApi& api, int ordinal)
{
    ESPALIER_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
    params.cuDevice = ordinal;
    params.api = CUPTI_PROFILER_RANGE_PROFILING;
    if (api.cuptiProfilerDeviceSupported(&params) != CUPTI_SUCCESS ||
        params.isSupported != CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED) {
        return 0; // what does not answer here says so when it is used
    }
    constexpr auto no = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    return params.vGpu == no                  ? CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED
           : params.confidentialCompute == no ? CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED
           : params.cmp == no                 ? CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED
           : params.sli == no                 ? CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED
           : params.wsl == no                 ? CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED
                                              : CUPTI_ERROR_NOT_SUPPORTED;
}

} // namespace espalier::profile
