// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::profile {

/// Counters that are asked for together. What a set costs in passes over the call is measured in the tests; one more
/// pass is 1 to 25 ms, the first 150.
enum class CounterSet : std::uint8_t {
    Core,  ///< bytes, occupancy, issue, instructions: one pass
    Flops, ///< FP64, FP32, FP16 on the CUDA cores: one pass more
    Full,  ///< throughputs, stalls, hits, conflicts, coalescing, local memory
    TensorF16,
    TensorBf16,
    TensorTf32,
    TensorF64,
    TensorFp8,
    TensorInt8,
};

std::string_view nameOf(CounterSet set);                                   ///< "core", "tensor_tf32"
std::vector<CounterSet> counterSetsNamed(std::string_view commaSeparated); ///< unknown names are left out

/// Chips that have the same counters as each other. Named after CUPTI's chip names.
enum class ChipFamily : std::uint8_t { Unknown, GA100, GA10x, AD10x, GH100, GB10x, GB20x };
ChipFamily familyOf(std::string_view chip); ///< "GA102" -> GA10x

/// How a metric's value comes out of counters.
enum class Formula : std::uint8_t {
    Sum,  ///< of counter x factor
    Mean, ///< the counter as it is: a ratio or a percentage, which CUPTI evaluates over the whole range
};

struct CounterTerm {
    std::string_view counter; ///< CUPTI's name with its rollup; empty: unused
    double factor = 1;
};

struct CounterRow {
    std::string_view metric; ///< id in core/model/metric.h
    CounterSet set = CounterSet::Core;
    Formula formula = Formula::Sum;
    std::uint8_t families = 0xff; ///< bit set over ChipFamily: where these counters exist; 0xff: all
    std::array<CounterTerm, 4> terms;
};

/// Every counter Espalier asks for, one row a metric and family. A family that has no row for a metric does not have
/// it.
std::span<const CounterRow> counterTable();

/// The counters to ask the chip for, each once.
std::vector<std::string> countersFor(ChipFamily family, const std::vector<CounterSet>& sets);

/// Metric id to value; a metric with a counter that is missing or not a number is left out.
std::map<std::string, double> metricsFrom(ChipFamily family, const std::vector<CounterSet>& sets,
                                          const std::map<std::string, double>& counters);

} // namespace espalier::profile
