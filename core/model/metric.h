// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace espalier {

/// Which way a metric is better between two candidates of one task; Neither: it explains, and is no merit.
enum class Better { Lower, Higher, Neither };

/// One row of the metric table: how to show a MetricValue. The same ids on hardware and on the simulated device, whose
/// values have provenance `model`. What is counted belongs to one call of the entry, all its kernels together.
struct Metric {
    std::string_view id;    ///< "dram_read_bytes"; never changes once a session has it
    std::string_view group; ///< "time", "memory", "compute", "issue", "stalls"
    std::string_view name;  ///< for a table's first column
    std::string_view unit;  ///< "B", "FLOP", "%", "GB/s", "us", "instructions", "ratio", "" for plain counts
    Better better = Better::Neither;
    std::string_view description; ///< one sentence for a hover, with the formula where it is no plain counter
    double peak = 0;              ///< the most it can be on any device (100 for percentages); 0: none, or the device's
};

/// All metrics in the order in which tables show them. Thread: any.
std::span<const Metric> metricTable();
/// Null for an id that this version does not know: shown as it is.
const Metric* findMetric(std::string_view id);

std::string_view nameOf(Better better); ///< "lower", "higher", "neither"

/// "12.9 GB", "71.3 %", "1.07 TFLOP": a value in the metric's unit, with SI prefixes (1000) for bytes and FLOP.
std::string metricText(std::string_view id, double value);

} // namespace espalier
