// SPDX-License-Identifier: Apache-2.0
#include "core/profile/counter_table.h"

#include "core/model/metric.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

namespace espalier::profile {
namespace {

TEST(CounterTable, EveryRowIsAMetricThatTablesCanShow)
{
    for (const CounterRow& row : counterTable()) {
        EXPECT_NE(findMetric(row.metric), nullptr) << row.metric;
        EXPECT_FALSE(row.terms[0].counter.empty()) << row.metric;
    }
}

TEST(CounterTable, NoFamilyHasAMetricTwice)
{
    for (int family = 0; family <= static_cast<int>(ChipFamily::GB20x); ++family) {
        std::vector<std::string_view> seen;
        for (const CounterRow& row : counterTable()) {
            if (row.families >> family & 1) {
                EXPECT_EQ(std::count(seen.begin(), seen.end(), row.metric), 0)
                    << row.metric << " for family " << family;
                seen.push_back(row.metric);
            }
        }
    }
}

TEST(CounterTable, ChipsBelongToTheirFamily)
{
    EXPECT_EQ(familyOf("GA100"), ChipFamily::GA100);
    EXPECT_EQ(familyOf("GA104"), ChipFamily::GA10x);
    EXPECT_EQ(familyOf("AD102"), ChipFamily::AD10x);
    EXPECT_EQ(familyOf("GH100"), ChipFamily::GH100);
    EXPECT_EQ(familyOf("GB110"), ChipFamily::GB10x);
    EXPECT_EQ(familyOf("GB202"), ChipFamily::GB20x);
    EXPECT_EQ(familyOf("TU102"), ChipFamily::Unknown);
}

TEST(CounterTable, SetsAreReadByName)
{
    EXPECT_EQ(counterSetsNamed("core,tensor_tf32,nonsense"), (std::vector{CounterSet::Core, CounterSet::TensorTf32}));
    EXPECT_TRUE(counterSetsNamed("").empty());
}

/// Values as an H200 gave them: a copy of 256 MiB, and 132 * 4 * 8 * 2000 products of 16x16x16 on the tensor cores.
TEST(CounterTable, MetricsAreWhatTheFormulasSay)
{
    const auto copy =
        metricsFrom(ChipFamily::GH100, {CounterSet::Core},
                    {{"dram__bytes_read.sum", 268451072.0},
                     {"dram__bytes_write.sum", 247078656.0},
                     {"lts__t_sectors_srcunit_tex.sum", 16777216.0},
                     {"l1tex__lsu_writeback_active_mem_lgds.sum", 2105600.0},
                     {"sm__warps_active.avg.pct_of_peak_sustained_active", std::numeric_limits<double>::quiet_NaN()}});
    EXPECT_EQ(copy.at("l2_bytes"), 2.0 * (1 << 28)); // read and written
    EXPECT_NEAR(copy.at("l1_bytes"), 1 << 28, 0.01 * (1 << 28));
    EXPECT_FALSE(copy.contains("occupancy_percent")); // not a number
    EXPECT_FALSE(copy.contains("issue_percent"));     // not counted
    const auto flops = metricsFrom(ChipFamily::GH100, {CounterSet::Flops, CounterSet::TensorF16},
                                   {{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 10813440000.0},
                                    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 270336.0},
                                    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0.0},
                                    {"sm__ops_path_tensor_src_fp16.sum", 69206016000.0}});
    EXPECT_EQ(flops.at("flops_f32"), 2 * 10813440000.0 + 270336.0);
    EXPECT_EQ(flops.at("tensor_flops_f16"), 132.0 * 4 * 8 * 2000 * 2 * 16 * 16 * 16);
}

} // namespace
} // namespace espalier::profile
