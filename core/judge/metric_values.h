// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/sim/counters.h"
#include "core/judge/case_plan.h"
#include "core/model/evaluation.h"

#include <cstdint>
#include <vector>

namespace espalier::judge {

/// The rows in the order of the table in core/model/metric.h.
void inTableOrder(std::vector<MetricValue>& metrics);
/// Throughputs: bytes by the counters over the time of the timed blocks, never over one of a counter run.
void addRates(std::vector<MetricValue>& metrics, double timeUs, Provenance provenance);

/// The rows of a simulated call, with provenance `model`: the same ids as hardware counters have.
std::vector<MetricValue> modelledMetrics(const sim::Counters& counters, std::uint64_t launches, double seconds);
ProfileRecord modelledProfile(const CasePlan& plan);

} // namespace espalier::judge
