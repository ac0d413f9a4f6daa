// SPDX-License-Identifier: Apache-2.0
#include "core/judge/metric_values.h"

#include "core/model/metric.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace espalier::judge {

namespace {

constexpr double microseconds = 1e6;

double valueOf(const std::vector<MetricValue>& metrics, std::string_view id)
{
    const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const MetricValue& m) { return m.id == id; });
    return found == metrics.end() ? 0 : found->value;
}

} // namespace

void inTableOrder(std::vector<MetricValue>& metrics)
{
    const auto place = [](const MetricValue& metric) {
        const Metric* known = findMetric(metric.id);
        return known ? known - metricTable().data() : static_cast<std::ptrdiff_t>(metricTable().size());
    };
    std::stable_sort(metrics.begin(), metrics.end(),
                     [&](const MetricValue& a, const MetricValue& b) { return place(a) < place(b); });
}

void addRates(std::vector<MetricValue>& metrics, double timeUs, Provenance provenance)
{
    constexpr double gigabytesPerSecond = 1e-3; // of bytes per microsecond
    const double bytes = valueOf(metrics, "dram_read_bytes") + valueOf(metrics, "dram_write_bytes");
    if (timeUs > 0 && bytes > 0) {
        metrics.push_back({"dram_gbs", bytes / timeUs * gigabytesPerSecond, provenance});
    }
}

std::vector<MetricValue> modelledMetrics(const sim::Counters& c, std::uint64_t launches, double seconds)
{
    const auto metric = [](const char* id, std::uint64_t value) {
        return MetricValue{id, static_cast<double>(value), Provenance::Model};
    };
    std::vector<MetricValue> metrics = {
        metric("launches", launches), metric("warp_instructions", c.warpInstructions),
        metric("thread_instructions", c.threadInstructions), metric("global_load_bytes", c.globalLoadBytes),
        metric("global_store_bytes", c.globalStoreBytes), metric("global_load_sectors", c.globalLoadSectors),
        metric("global_store_sectors", c.globalStoreSectors), metric("shared_requests", c.sharedRequests),
        metric("shared_wavefronts", c.sharedWavefronts),
        metric("shared_conflicts", c.sharedWavefronts - std::min(c.sharedRequests, c.sharedWavefronts)),
        metric("local_bytes", c.localBytes), metric("dram_read_bytes", c.dramReadBytes),
        metric("dram_write_bytes", c.dramWriteBytes),
        // There is no L1 cache here: every sector that is asked for goes to the L2 cache.
        metric("l2_bytes", 32 * (c.globalLoadSectors + c.globalStoreSectors)),
        metric("l1_bytes", c.globalLoadBytes + c.globalStoreBytes), metric("flops_f32", c.flopsF32),
        metric("flops_f64", c.flopsF64), metric("flops_f16", c.flopsF16)};
    const auto ratio = [&](const char* id, std::uint64_t over, std::uint64_t under) {
        if (under > 0) {
            const Metric* known = findMetric(id);
            metrics.push_back({id, static_cast<double>(over) / static_cast<double>(under), Provenance::Model,
                               known ? known->peak : 0});
        }
    };
    ratio("sectors_per_load", c.globalLoadSectors, c.globalLoadRequests);
    ratio("sectors_per_store", c.globalStoreSectors, c.globalStoreRequests);
    const auto percent = [&](const char* id, std::uint64_t asked, std::uint64_t sectors) {
        constexpr std::uint64_t sectorBytes = 32;
        if (sectors > 0) { // lanes that ask for the same bytes share a sector
            const double share = 100.0 * static_cast<double>(asked) / static_cast<double>(sectorBytes * sectors);
            metrics.push_back({id, std::min(share, 100.0), Provenance::Model, 100});
        }
    };
    percent("load_efficiency_percent", c.globalLoadBytes, c.globalLoadSectors);
    percent("store_efficiency_percent", c.globalStoreBytes, c.globalStoreSectors);
    ratio("threads_per_instruction", c.threadInstructions, c.warpInstructions);
    if (seconds > 0) {
        metrics.push_back({"device_time_us", seconds * microseconds, Provenance::Model});
        addRates(metrics, seconds * microseconds, Provenance::Model);
    }
    inTableOrder(metrics);
    return metrics;
}

ProfileRecord modelledProfile(const CasePlan& plan)
{
    ProfileRecord record;
    record.caseId = plan.id;
    record.taskBytes = static_cast<double>(plan.minimumBytes);
    record.taskFlops = plan.flops;
    record.level = "full";
    record.tool = "simulated device";
    record.collectors = {{"counts", true, 0, 0, ""}};
    return record;
}

} // namespace espalier::judge
