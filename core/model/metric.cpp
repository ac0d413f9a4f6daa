// SPDX-License-Identifier: Apache-2.0
#include "core/model/metric.h"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace espalier {

namespace {

using enum Better;

// Stall reasons: NVIDIA's names, explained in the words of the Nsight Compute documentation's warp states.
constexpr Metric table[] = {
    {"device_time_us", "time", "Device time", "us", Lower,
     "From the start of the call's first kernel, copy or memset to the end of its last, as CUPTI's activity records "
     "it; "
     "never taken from a run that counts."},
    {"kernel_time_us", "time", "Kernel time", "us", Lower, "Sum of the call's kernels alone, by activity records."},
    {"launches", "time", "Kernels a call", "", Lower, "Kernels that one call launches."},
    {"dram_read_bytes", "memory", "DRAM read", "B", Lower, "Bytes read from device memory."},
    {"dram_write_bytes", "memory", "DRAM written", "B", Lower,
     "Bytes written to device memory while the call ran; lines that are still dirty in the L2 cache afterwards are not "
     "in it."},
    {"dram_gbs", "memory", "DRAM throughput", "GB/s", Higher, "DRAM bytes read and written over the timed median."},
    {"dram_percent", "memory", "DRAM busy", "%", Neither, "Share of the DRAM's peak throughput while the call ran.",
     100},
    {"l2_bytes", "memory", "L2 traffic", "B", Lower,
     "Bytes that the multiprocessors asked of the L2 cache: sectors x 32. Traffic between the two halves of the cache "
     "is not in it."},
    {"l2_hit_percent", "memory", "L2 hits", "%", Higher, "Share of the L2 cache's lookups that found their sector.",
     100},
    {"l1_bytes", "memory", "L1 traffic", "B", Lower, "Bytes that the L1 cache wrote back to registers for loads."},
    {"l1_hit_percent", "memory", "L1 hits", "%", Higher, "Share of the L1 cache's lookups that found their sector.",
     100},
    {"global_load_bytes", "memory", "Global loads asked for", "B", Lower,
     "Bytes that threads asked for, before caches."},
    {"global_store_bytes", "memory", "Global stores asked for", "B", Lower,
     "Bytes that threads stored, before caches."},
    {"global_load_sectors", "memory", "Global load sectors", "", Lower,
     "32-byte sectors of all global loads, by request."},
    {"global_store_sectors", "memory", "Global store sectors", "", Lower,
     "32-byte sectors of all global stores, by request."},
    {"sectors_per_load", "memory", "Sectors per load", "ratio", Lower,
     "32-byte sectors that one warp-wide global load touches: 4 is ideal for 4-byte words, 16 for 16-byte ones.", 32},
    {"sectors_per_store", "memory", "Sectors per store", "ratio", Lower,
     "32-byte sectors that one warp-wide global store touches: 4 is ideal for 4-byte words, 16 for 16-byte ones.", 32},
    {"load_efficiency_percent", "memory", "Load efficiency", "%", Higher,
     "Of the bytes in the sectors that global loads touch, those that threads asked for.", 100},
    {"store_efficiency_percent", "memory", "Store efficiency", "%", Higher,
     "Of the bytes in the sectors that global stores touch, those that threads wrote.", 100},
    {"shared_requests", "memory", "Shared memory requests", "", Neither,
     "Warp-wide loads and stores of shared memory."},
    {"shared_wavefronts", "memory", "Shared memory passes", "", Lower, "Passes over the banks that the requests took."},
    {"shared_conflicts", "memory", "Bank conflicts", "", Lower,
     "Extra passes over shared memory because lanes met in a bank."},
    {"local_bytes", "memory", "Local memory traffic", "B", Lower,
     "Bytes of spilled registers and thread-local arrays that went through the L1 cache."},
    {"flops_f32", "compute", "FP32 operations", "FLOP", Neither,
     "fma x 2 + add + mul, single precision, predicated-off threads left out."},
    {"flops_f64", "compute", "FP64 operations", "FLOP", Neither, "fma x 2 + add + mul, double precision."},
    {"flops_f16", "compute", "FP16 operations", "FLOP", Neither,
     "fma x 4 + add x 2 + mul x 2: packed pairs of half precision on the CUDA cores. Compilers also use such an fma to "
     "set a "
     "register, so a small count may be none."},
    {"tensor_flops_f16", "compute", "Tensor FP16", "FLOP", Neither,
     "Tensor core operations on half-precision operands."},
    {"tensor_flops_bf16", "compute", "Tensor BF16", "FLOP", Neither, "Tensor core operations on bfloat16 operands."},
    {"tensor_flops_tf32", "compute", "Tensor TF32", "FLOP", Neither, "Tensor core operations on TF32 operands."},
    {"tensor_flops_f64", "compute", "Tensor FP64", "FLOP", Neither,
     "Tensor core operations on double-precision operands."},
    {"tensor_flops_fp8", "compute", "Tensor FP8", "FLOP", Neither,
     "Tensor core operations on 8-bit floating point operands."},
    {"tensor_flops_int8", "compute", "Tensor INT8", "FLOP", Neither,
     "Tensor core operations on 8-bit integer operands."},
    {"sm_percent", "compute", "SM throughput", "%", Higher, "The busiest unit of the multiprocessors, of its peak.",
     100},
    {"memory_percent", "memory", "Memory throughput", "%", Neither,
     "The busiest unit of the memory system, of its peak.", 100},
    {"occupancy_percent", "issue", "Occupancy", "%", Neither,
     "Warps that were resident on an active multiprocessor, of the most it holds.", 100},
    {"occupancy_limit_percent", "issue", "Theoretical occupancy", "%", Neither,
     "What registers, shared memory and block size of the heaviest kernel allow.", 100},
    {"issue_percent", "issue", "Issue slots used", "%", Higher,
     "Cycles in which a scheduler of an active multiprocessor issued an instruction.", 100},
    {"sm_active_percent", "issue", "Multiprocessors active", "%", Higher,
     "Cycles in which a multiprocessor had at least one warp: low for a grid that is too small or a long tail.", 100},
    {"warp_instructions", "issue", "Warp instructions", "instructions", Lower, "Instructions that warps executed."},
    {"thread_instructions", "issue", "Thread instructions", "instructions", Lower,
     "The same by thread, predicated-off threads left out."},
    {"threads_per_instruction", "issue", "Active threads per instruction", "ratio", Higher,
     "Of 32; fewer means divergent branches or part-filled warps.", 32},
    {"stall_long_scoreboard", "stalls", "Stall: long scoreboard", "ratio", Lower,
     "Warps per issue that waited for L1, L2 or device memory."},
    {"stall_short_scoreboard", "stalls", "Stall: short scoreboard", "ratio", Lower,
     "Warps per issue that waited for shared memory or the special function units."},
    {"stall_barrier", "stalls", "Stall: barrier", "ratio", Lower,
     "Warps per issue that waited for the others of their block."},
    {"stall_lg_throttle", "stalls", "Stall: LG throttle", "ratio", Lower,
     "Warps per issue whose global or local access found a full queue."},
    {"stall_mio_throttle", "stalls", "Stall: MIO throttle", "ratio", Lower,
     "Warps per issue whose shared memory or special instruction found a full queue."},
    {"stall_math_pipe_throttle", "stalls", "Stall: math pipe", "ratio", Lower,
     "Warps per issue that waited for a busy arithmetic unit."},
    {"stall_wait", "stalls", "Stall: fixed latency", "ratio", Lower,
     "Warps per issue that waited out an instruction's fixed latency."},
    {"stall_not_selected", "stalls", "Stall: not selected", "ratio", Neither,
     "Warps per issue that were ready while another was issued."},
    {"stall_selected", "stalls", "Selected", "ratio", Neither, "Warps per issue that were issued: 1 by definition."},
    {"stall_no_instruction", "stalls", "Stall: no instruction", "ratio", Lower,
     "Warps per issue that waited for the instruction cache or after a jump."},
    {"stall_branch_resolving", "stalls", "Stall: branch", "ratio", Lower,
     "Warps per issue that waited for a branch's target."},
    {"stall_dispatch_stall", "stalls", "Stall: dispatch", "ratio", Lower,
     "Warps per issue that the dispatcher held back."},
    {"stall_drain", "stalls", "Stall: drain", "ratio", Lower,
     "Warps per issue that waited at their end for stores to leave."},
    {"stall_gmma", "stalls", "Stall: wgmma", "ratio", Lower,
     "Warps per issue that waited for an asynchronous matrix product."},
    {"stall_imc_miss", "stalls", "Stall: constant cache", "ratio", Lower,
     "Warps per issue that waited for an immediate constant."},
    {"stall_membar", "stalls", "Stall: memory fence", "ratio", Lower, "Warps per issue that waited at a memory fence."},
    {"stall_misc", "stalls", "Stall: other", "ratio", Lower, "Warps per issue that waited for another reason."},
    {"stall_sleeping", "stalls", "Stall: sleeping", "ratio", Lower, "Warps per issue that slept or yielded."},
    {"stall_tex_throttle", "stalls", "Stall: texture throttle", "ratio", Lower,
     "Warps per issue whose texture access found a full queue."},
};

struct Prefix {
    double factor;
    const char* text;
};

std::string scaled(double value, std::string_view unit)
{
    constexpr std::array<Prefix, 6> prefixes = {
        {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
    for (const Prefix& prefix : prefixes) {
        if (std::abs(value) >= prefix.factor) {
            return fmt::format("{:.3g} {}{}", value / prefix.factor, prefix.text, unit);
        }
    }
    return fmt::format("{:.3g} {}", value, unit);
}

} // namespace

std::span<const Metric> metricTable()
{
    return table;
}

const Metric* findMetric(std::string_view id)
{
    for (const Metric& metric : table) {
        if (metric.id == id) {
            return &metric;
        }
    }
    return nullptr;
}

std::string_view nameOf(Better better)
{
    return better == Lower ? "lower" : better == Higher ? "higher" : "neither";
}

std::string metricText(std::string_view id, double value)
{
    const Metric* metric = findMetric(id);
    const std::string_view unit = metric ? metric->unit : "";
    if (!std::isfinite(value)) {
        return "not available";
    }
    if (unit == "B" || unit == "FLOP") {
        return scaled(value, unit);
    }
    if (unit == "instructions" || (unit.empty() && std::abs(value) >= 1e4)) {
        std::string text = scaled(value, "");
        return text.ends_with(' ') ? text.substr(0, text.size() - 1) : text;
    }
    if (unit == "%" || unit == "GB/s" || unit == "us") {
        return fmt::format("{:.4g} {}", value, unit);
    }
    return fmt::format("{:.4g}", value);
}

} // namespace espalier
