// SPDX-License-Identifier: Apache-2.0
#include "core/profile/counter_table.h"

#include <algorithm>
#include <cmath>

namespace espalier::profile {

namespace {

using enum CounterSet;
using enum Formula;

constexpr std::uint8_t bit(ChipFamily family)
{
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(family));
}

constexpr std::uint8_t ga100 = bit(ChipFamily::GA100), ga10x = bit(ChipFamily::GA10x), ad10x = bit(ChipFamily::AD10x),
                       gh100 = bit(ChipFamily::GH100), gb10x = bit(ChipFamily::GB10x), gb20x = bit(ChipFamily::GB20x);
constexpr std::uint8_t all = 0xff;
constexpr std::uint8_t upToAda = ga100 | ga10x | ad10x, fromHopper = gh100 | gb10x | gb20x;
constexpr std::uint8_t blackwell = gb10x | gb20x;

#define ESPALIER_STALL(reason, families)                                                                               \
    {                                                                                                                  \
        "stall_" reason, Full, Mean, families,                                                                         \
        {                                                                                                              \
            { {"smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"} }                                \
        }                                                                                                              \
    }

// Names are checked against CUPTI's Host API for one chip of each family (tests/profile).
constexpr CounterRow counterRows[] = {
    {"dram_read_bytes", Core, Sum, static_cast<std::uint8_t>(all & ~gb20x), {{{"dram__bytes_read.sum"}}}},
    {"dram_read_bytes", Core, Sum, gb20x, {{{"dram__bytes_op_read.sum"}}}},
    {"dram_write_bytes", Core, Sum, static_cast<std::uint8_t>(all & ~gb20x), {{{"dram__bytes_write.sum"}}}},
    {"dram_write_bytes", Core, Sum, gb20x, {{{"dram__bytes_op_write.sum"}}}},
    // lts__t_bytes counts traffic between the halves of the cache twice; the multiprocessors' side does not.
    {"l2_bytes", Core, Sum, all, {{{"lts__t_sectors_srcunit_tex.sum", 32}}}},
    {"l1_bytes", Core, Sum, upToAda, {{{"l1tex__lsu_writeback_active_mem_lg.sum", 128}}}},
    {"l1_bytes", Core, Sum, fromHopper, {{{"l1tex__lsu_writeback_active_mem_lgds.sum", 128}}}},
    {"occupancy_percent", Core, Mean, all, {{{"sm__warps_active.avg.pct_of_peak_sustained_active"}}}},
    {"issue_percent", Core, Mean, all, {{{"smsp__issue_active.avg.pct_of_peak_sustained_active"}}}},
    {"sm_active_percent", Core, Mean, all, {{{"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}}}},
    {"warp_instructions", Core, Sum, all, {{{"smsp__inst_executed.sum"}}}},

    {"flops_f32",
     Flops,
     Sum,
     all,
     {{{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 2},
       {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"},
       {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"}}}},
    {"flops_f64",
     Flops,
     Sum,
     all,
     {{{"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 2},
       {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"},
       {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"}}}},
    {"flops_f16",
     Flops,
     Sum,
     all,
     {{{"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 4},
       {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 2},
       {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 2}}}},

    {"tensor_flops_f16",
     TensorF16,
     Sum,
     static_cast<std::uint8_t>(upToAda | blackwell),
     {{{"sm__ops_path_tensor_src_fp16_dst_fp16.sum"}, {"sm__ops_path_tensor_src_fp16_dst_fp32.sum"}}}},
    {"tensor_flops_f16", TensorF16, Sum, gh100, {{{"sm__ops_path_tensor_src_fp16.sum"}}}},
    {"tensor_flops_bf16", TensorBf16, Sum, all, {{{"sm__ops_path_tensor_src_bf16_dst_fp32.sum"}}}},
    {"tensor_flops_tf32", TensorTf32, Sum, all, {{{"sm__ops_path_tensor_src_tf32_dst_fp32.sum"}}}},
    {"tensor_flops_f64", TensorF64, Sum, all, {{{"sm__ops_path_tensor_src_fp64.sum"}}}},
    {"tensor_flops_fp8",
     TensorFp8,
     Sum,
     static_cast<std::uint8_t>(gh100 | ad10x),
     {{{"sm__ops_path_tensor_src_fp8.sum"}}}},
    {"tensor_flops_fp8",
     TensorFp8,
     Sum,
     gb10x,
     {{{"sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16.sum"}, {"sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum"}}}},
    {"tensor_flops_fp8",
     TensorFp8,
     Sum,
     gb20x,
     {{{"sm__ops_path_tensor_src_fp8_dst_fp16.sum"}, {"sm__ops_path_tensor_src_fp8_dst_fp32.sum"}}}},
    {"tensor_flops_int8", TensorInt8, Sum, all, {{{"sm__ops_path_tensor_src_int8.sum"}}}},

    {"sm_percent", Full, Mean, all, {{{"sm__throughput.avg.pct_of_peak_sustained_elapsed"}}}},
    {"memory_percent", Full, Mean, all, {{{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"}}}},
    {"dram_percent", Full, Mean, all, {{{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"}}}},
    {"l2_hit_percent", Full, Mean, all, {{{"lts__t_sector_hit_rate.pct"}}}},
    {"l1_hit_percent", Full, Mean, all, {{{"l1tex__t_sector_hit_rate.pct"}}}},
    {"global_load_sectors", Full, Sum, all, {{{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}}}},
    {"global_store_sectors", Full, Sum, all, {{{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}}}},
    {"sectors_per_load", Full, Mean, all, {{{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"}}}},
    {"sectors_per_store",
     Full,
     Mean,
     all,
     {{{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"}}}},
    {"load_efficiency_percent", Full, Mean, all, {{{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"}}}},
    {"store_efficiency_percent",
     Full,
     Mean,
     all,
     {{{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"}}}},
    {"shared_wavefronts", Full, Sum, all, {{{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}}}},
    {"shared_conflicts", Full, Sum, all, {{{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}}}},
    {"local_bytes",
     Full,
     Sum,
     all,
     {{{"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"}, {"l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"}}}},
    {"thread_instructions", Full, Sum, all, {{{"smsp__sass_thread_inst_executed.sum"}}}},
    {"threads_per_instruction", Full, Mean, all, {{{"smsp__thread_inst_executed_per_inst_executed.ratio"}}}},
    ESPALIER_STALL("long_scoreboard", all),
    ESPALIER_STALL("short_scoreboard", all),
    ESPALIER_STALL("barrier", all),
    ESPALIER_STALL("lg_throttle", all),
    ESPALIER_STALL("mio_throttle", all),
    ESPALIER_STALL("math_pipe_throttle", all),
    ESPALIER_STALL("wait", all),
    ESPALIER_STALL("not_selected", all),
    ESPALIER_STALL("selected", all),
    ESPALIER_STALL("no_instruction", all),
    ESPALIER_STALL("branch_resolving", all),
    ESPALIER_STALL("dispatch_stall", all),
    ESPALIER_STALL("drain", all),
    ESPALIER_STALL("gmma", gh100),
    ESPALIER_STALL("imc_miss", static_cast<std::uint8_t>(all & ~blackwell)),
    ESPALIER_STALL("membar", all),
    ESPALIER_STALL("misc", all),
    ESPALIER_STALL("sleeping", all),
    ESPALIER_STALL("tex_throttle", all),
};
#undef ESPALIER_STALL

struct SetName {
    CounterSet set;
    std::string_view name;
};
constexpr SetName setNames[] = {{Core, "core"},
                                {Flops, "flops"},
                                {Full, "full"},
                                {TensorF16, "tensor_f16"},
                                {TensorBf16, "tensor_bf16"},
                                {TensorTf32, "tensor_tf32"},
                                {TensorF64, "tensor_f64"},
                                {TensorFp8, "tensor_fp8"},
                                {TensorInt8, "tensor_int8"}};

bool applies(const CounterRow& row, ChipFamily family, const std::vector<CounterSet>& sets)
{
    return (row.families & bit(family)) != 0 && std::find(sets.begin(), sets.end(), row.set) != sets.end();
}

} // namespace

std::string_view nameOf(CounterSet set)
{
    for (const SetName& row : setNames) {
        if (row.set == set) {
            return row.name;
        }
    }
    return "";
}

std::vector<CounterSet> counterSetsNamed(std::string_view text)
{
    std::vector<CounterSet> sets;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        for (const SetName& row : setNames) {
            if (row.name == text.substr(0, comma)) {
                sets.push_back(row.set);
            }
        }
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return sets;
}

ChipFamily familyOf(std::string_view chip)
{
    if (chip == "GA100") {
        return ChipFamily::GA100;
    }
    constexpr std::pair<std::string_view, ChipFamily> prefixes[] = {
        {"GA10", ChipFamily::GA10x}, {"AD10", ChipFamily::AD10x}, {"GH100", ChipFamily::GH100},
        {"GB10", ChipFamily::GB10x}, {"GB11", ChipFamily::GB10x}, {"GB20", ChipFamily::GB20x}};
    for (const auto& [prefix, family] : prefixes) {
        if (chip.starts_with(prefix)) {
            return family;
        }
    }
    return ChipFamily::Unknown;
}

std::span<const CounterRow> counterTable()
{
    return counterRows;
}

std::vector<std::string> countersFor(ChipFamily family, const std::vector<CounterSet>& sets)
{
    std::vector<std::string> counters;
    for (const CounterRow& row : counterRows) {
        for (const CounterTerm& term : row.terms) {
            if (applies(row, family, sets) && !term.counter.empty() &&
                std::find(counters.begin(), counters.end(), term.counter) == counters.end()) {
                counters.emplace_back(term.counter);
            }
        }
    }
    return counters;
}

std::map<std::string, double> metricsFrom(ChipFamily family, const std::vector<CounterSet>& sets,
                                          const std::map<std::string, double>& counters)
{
    std::map<std::string, double> metrics;
    for (const CounterRow& row : counterRows) {
        if (!applies(row, family, sets)) {
            continue;
        }
        double value = 0;
        bool whole = true;
        for (const CounterTerm& term : row.terms) {
            if (term.counter.empty()) {
                continue;
            }
            const auto found = counters.find(std::string(term.counter));
            whole = whole && found != counters.end() && std::isfinite(found->second);
            value += whole ? found->second * term.factor : 0;
        }
        if (whole) {
            metrics.emplace(row.metric, value);
        }
    }
    return metrics;
}

} // namespace espalier::profile
