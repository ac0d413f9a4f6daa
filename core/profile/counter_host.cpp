// SPDX-License-Identifier: Apache-2.0
#include "core/profile/counter_host.h"

#include "core/profile/cupti_error.h"

#include <limits>
#include <utility>

namespace espalier::profile {

namespace {

std::vector<const char*> pointersTo(const std::vector<std::string>& names)
{
    std::vector<const char*> pointers;
    for (const std::string& name : names) {
        pointers.push_back(name.c_str());
    }
    return pointers;
}

} // namespace

CounterHost::CounterHost(const CuptiApi& api, CUpti_Profiler_Host_Object* object,
                         std::vector<std::uint8_t> availability)
    : m_api(&api), m_object(object),
      m_availability(std::make_unique<std::vector<std::uint8_t>>(std::move(availability))),
      m_config(std::make_unique<std::vector<std::uint8_t>>())
{
}

CounterHost::CounterHost(CounterHost&& other) noexcept
    : m_api(other.m_api), m_object(std::exchange(other.m_object, nullptr)),
      m_availability(std::move(other.m_availability)), m_config(std::move(other.m_config))
{
}

CounterHost::~CounterHost()
{
    if (m_object) {
        ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
        params.pHostObject = m_object;
        m_api->cuptiProfilerHostDeinitialize(&params);
    }
}

Result<CounterHost> CounterHost::create(const CuptiApi& api, const std::string& chip,
                                        std::vector<std::uint8_t> availability)
{
    auto kept = std::make_unique<std::vector<std::uint8_t>>(std::move(availability));
    CounterHost host(api, nullptr, {});
    host.m_availability = std::move(kept); // CUPTI may read it as long as the object lives
    ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    params.pCounterAvailabilityImage = host.m_availability->empty() ? nullptr : host.m_availability->data();
    ESPALIER_CUPTI(api, "Preparing counters for " + chip, api.cuptiProfilerHostInitialize(&params));
    host.m_object = params.pHostObject;
    return host;
}

Result<void> CounterHost::add(const std::vector<std::string>& counters)
{
    std::vector<const char*> names = pointersTo(counters);
    ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, params);
    params.pHostObject = m_object;
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    const CUptiResult code = m_api->cuptiProfilerHostConfigAddMetrics(&params);
    if (code != CUPTI_SUCCESS) { // here 999 is a name that does not exist, not a fault
        return fail(ErrorCode::NotSupported,
                    "This GPU does not have one of the counters that were asked for (" + m_api->describe(code) + ").");
    }
    return {};
}

Result<std::size_t> CounterHost::passes()
{
    ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = m_object;
    ESPALIER_CUPTI(*m_api, "Sizing the counters' configuration", m_api->cuptiProfilerHostGetConfigImageSize(&size));
    m_config->assign(size.configImageSize, 0);
    ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
    image.pHostObject = m_object;
    image.configImageSize = m_config->size();
    image.pConfigImage = m_config->data();
    ESPALIER_CUPTI(*m_api, "Making the counters' configuration", m_api->cuptiProfilerHostGetConfigImage(&image));
    ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, count);
    count.configImageSize = m_config->size();
    count.pConfigImage = m_config->data();
    ESPALIER_CUPTI(*m_api, "Counting the passes", m_api->cuptiProfilerHostGetNumOfPasses(&count));
    return count.numOfPasses;
}

Result<std::vector<double>> CounterHost::evaluate(const std::vector<std::uint8_t>& counterData, std::size_t range,
                                                  const std::vector<std::string>& counters) const
{
    std::vector<const char*> names = pointersTo(counters);
    std::vector<double> values(names.size(), std::numeric_limits<double>::quiet_NaN());
    ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
    params.pHostObject = m_object;
    params.pCounterDataImage = counterData.data();
    params.counterDataImageSize = counterData.size();
    params.rangeIndex = range;
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    params.pMetricValues = values.data();
    ESPALIER_CUPTI(*m_api, "Reading the counters' values", m_api->cuptiProfilerHostEvaluateToGpuValues(&params));
    return values;
}

Result<std::vector<std::string>> knownChips(const CuptiApi& api)
{
    ESPALIER_CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params, params);
    ESPALIER_CUPTI(api, "Asking CUPTI which chips it knows", api.cuptiProfilerHostGetSupportedChips(&params));
    std::vector<std::string> chips;
    for (std::size_t i = 0; i < params.numChips; ++i) {
        chips.emplace_back(params.ppChipNames[i]);
    }
    return chips;
}

Result<std::vector<std::string>> unknownCounters(const CuptiApi& api, const std::string& chip,
                                                 const std::vector<std::string>& counters)
{
    std::vector<std::string> unknown;
    for (const std::string& counter : counters) {
        ESPALIER_TRY(CounterHost host, CounterHost::create(api, chip, {}));
        if (!host.add({counter})) {
            unknown.push_back(counter);
        }
    }
    return unknown;
}

} // namespace espalier::profile
