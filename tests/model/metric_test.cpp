// SPDX-License-Identifier: Apache-2.0
#include "core/model/metric.h"

#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace espalier {
namespace {

TEST(MetricTable, EveryRowSaysWhatItIs)
{
    std::set<std::string_view> ids;
    for (const Metric& metric : metricTable()) {
        EXPECT_TRUE(ids.insert(metric.id).second) << metric.id << " stands there twice";
        EXPECT_FALSE(metric.name.empty()) << metric.id;
        EXPECT_FALSE(metric.group.empty()) << metric.id;
        EXPECT_TRUE(metric.description.ends_with('.')) << metric.id << ": " << metric.description;
        EXPECT_EQ(metric.unit == "%", metric.peak == 100) << metric.id << ": a percentage has the peak 100";
        EXPECT_EQ(findMetric(metric.id), &metric);
    }
    EXPECT_EQ(findMetric("no_such_metric"), nullptr);
}

TEST(MetricTable, ValuesAreWrittenInTheirUnit)
{
    EXPECT_EQ(metricText("dram_read_bytes", 12.9e9), "12.9 GB");
    EXPECT_EQ(metricText("dram_read_bytes", 0), "0 B");
    EXPECT_EQ(metricText("flops_f32", 1.07e12), "1.07 TFLOP");
    EXPECT_EQ(metricText("occupancy_percent", 71.25), "71.25 %");
    EXPECT_EQ(metricText("warp_instructions", 6984704), "6.98 M");
    EXPECT_EQ(metricText("sectors_per_load", 4), "4");
    EXPECT_EQ(metricText("device_time_us", 133.855), "133.9 us");
    EXPECT_EQ(metricText("occupancy_percent", std::numeric_limits<double>::quiet_NaN()), "not available");
}

} // namespace
} // namespace espalier
