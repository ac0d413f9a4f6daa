// SPDX-License-Identifier: Apache-2.0
#include "core/profile/sass_collector.h"

#include "core/profile/cupti_error.h"
#include "core/profile/loaded_cubins.h"

#include <chrono>
#include <map>
#include <tuple>

namespace espalier::profile {

namespace {

using Clock = std::chrono::steady_clock;

/// CUPTI's name without its prefix is the name in the report.
constexpr const char* wantedCounts[] = {
    "smsp__sass_inst_executed",
    "smsp__sass_thread_inst_executed",
    "smsp__sass_thread_inst_executed_pred_on",
    "smsp__sass_sectors_mem_global",
    "smsp__sass_sectors_mem_global_ideal",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared",
    "smsp__sass_branch_targets_threads_divergent",
};
constexpr std::string_view countPrefix = "smsp__sass_";
constexpr std::size_t mostPatched = 200'000, mostCounted = 4000;

class SassCollector final : public Collector
{
public:
    SassCollector(const CuptiApi& api, int ordinal) : m_api(api), m_ordinal(ordinal) {}

    Result<void> prepare() override
    {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, initialize);
        ESPALIER_CUPTI(m_api, "Starting the profiler", m_api.cuptiProfilerInitialize(&initialize));
        ESPALIER_CHECK(LoadedCubins::watch(m_api));
        ESPALIER_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
        chip.deviceIndex = static_cast<std::size_t>(m_ordinal);
        ESPALIER_CUPTI(m_api, "Asking for the chip's name", m_api.cuptiDeviceGetChipName(&chip));
        std::vector<CUpti_SassMetrics_Config> configs;
        for (const char* name : wantedCounts) {
            ESPALIER_CUPTI_PARAMS(CUpti_SassMetrics_GetProperties_Params, properties);
            properties.pChipName = chip.pChipName;
            properties.pMetricName = name;
            if (m_api.cuptiSassMetricsGetProperties(&properties) != CUPTI_SUCCESS) {
                m_unknown.emplace_back(name);
                continue;
            }
            m_names[properties.metric.metricId] = std::string(name).substr(countPrefix.size());
            configs.push_back({properties.metric.metricId, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
        }
        ESPALIER_CUPTI_PARAMS(CUpti_SassMetricsSetConfig_Params, config);
        config.numOfMetricConfig = configs.size();
        config.pConfigs = configs.data();
        config.deviceIndex = static_cast<std::uint32_t>(m_ordinal);
        ESPALIER_CUPTI(m_api, "Configuring counts by instruction", m_api.cuptiSassMetricsSetConfig(&config));
        return {};
    }

    Result<Json> collect(const Workload& work) override
    {
        if (const int status = work.call(0); status != 0) { // modules are loaded by it
            return fail(ErrorCode::InvalidInput, "The call returned CUDA error " + std::to_string(status) + ".");
        }
        ESPALIER_CHECK(work.device->synchronize());
        const auto start = Clock::now();
        ESPALIER_CUPTI_PARAMS(CUpti_SassMetricsEnable_Params, enable);
        enable.enableLazyPatching = 1;
        ESPALIER_CUPTI(m_api, "Patching the kernels", m_api.cuptiSassMetricsEnable(&enable));
        const int status = work.call(0);
        ESPALIER_CHECK(work.device->synchronize());
        if (status != 0) {
            return fail(ErrorCode::InvalidInput,
                        "The call returned CUDA error " + std::to_string(status) + " while it was counted.");
        }
        ESPALIER_TRY(Json json, read()); // between Enable and Disable alone
        ESPALIER_CUPTI_PARAMS(CUpti_SassMetricsDisable_Params, disable);
        m_api.cuptiSassMetricsDisable(&disable);
        ESPALIER_CUPTI_PARAMS(CUpti_SassMetricsUnsetConfig_Params, unset);
        unset.deviceIndex = static_cast<std::uint32_t>(m_ordinal);
        m_api.cuptiSassMetricsUnsetConfig(&unset);
        json["milliseconds"] = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        json["unknown"] = m_unknown;
        return json;
    }

private:
    Result<Json> read()
    {
        ESPALIER_CUPTI_PARAMS(CUpti_SassMetricsGetDataProperties_Params, size);
        ESPALIER_CUPTI(m_api, "Asking for counts by instruction", m_api.cuptiSassMetricsGetDataProperties(&size));
        const std::size_t patched = size.numOfPatchedInstructionRecords;
        const std::size_t values = size.numOfInstances * m_names.size();
        if (patched == 0 || patched > mostPatched || values == 0) {
            return fail(ErrorCode::Internal, "No instruction was counted, and no reason given.");
        }
        std::vector<CUpti_SassMetrics_Data> data(patched);
        std::vector<CUpti_SassMetrics_InstanceValue> instances(patched * values);
        std::memset(data.data(), 0, patched * sizeof data[0]);
        std::memset(instances.data(), 0, instances.size() * sizeof instances[0]);
        for (std::size_t i = 0; i < patched; ++i) {
            data[i].structSize = sizeof data[i];
            data[i].pInstanceValues = &instances[i * values];
        }
        // The size that the header states ends before the pointer, and is what CUPTI wants all the same: sizeof was
        // refused (1).
        ESPALIER_CUPTI_PARAMS(CUpti_SassMetricsFlushData_Params, flush);
        flush.numOfPatchedInstructionRecords = patched;
        flush.numOfInstances = size.numOfInstances;
        flush.pMetricsData = data.data();
        ESPALIER_CUPTI(m_api, "Reading counts by instruction", m_api.cuptiSassMetricsFlushData(&flush));
        return report(data, values);
    }

    Json report(const std::vector<CUpti_SassMetrics_Data>& data, std::size_t values) const
    {
        const LoadedCubins cubins;
        Json instructions = Json::array();
        for (const CUpti_SassMetrics_Data& record : data) {
            if (instructions.size() == mostCounted) {
                break;
            }
            const std::string function = record.functionName ? record.functionName : "";
            Json counts = Json::object();
            for (std::size_t v = 0; v < values; ++v) {
                const auto name = m_names.find(record.pInstanceValues[v].metricId);
                if (name != m_names.end() && record.pInstanceValues[v].value > 0) {
                    counts[name->second] =
                        counts.value(name->second, std::uint64_t{0}) + record.pInstanceValues[v].value;
                }
            }
            Json one = {{"function", function}, {"offset", record.pcOffset}, {"counts", std::move(counts)}};
            if (const SourceChain chain = cubins.find(0, function, record.pcOffset); !chain.empty()) {
                Json places = Json::array();
                for (const SourcePlace& step : chain) {
                    places.push_back({{"file", step.file}, {"line", step.line}});
                }
                one["chain"] = std::move(places);
            }
            instructions.push_back(std::move(one));
        }
        return Json{{"instructions", std::move(instructions)}, {"records", data.size()}};
    }

    const CuptiApi& m_api;
    int m_ordinal;
    std::map<std::uint64_t, std::string> m_names; ///< by CUPTI's id
    std::vector<std::string> m_unknown;
};

} // namespace

std::unique_ptr<Collector> makeSassCollector(const CuptiApi& api, int ordinal)
{
    return std::make_unique<SassCollector>(api, ordinal);
}

} // namespace espalier::profile
